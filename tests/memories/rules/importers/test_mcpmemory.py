"""Rows of mcp-memory-service's SQLite file."""

from __future__ import annotations

from memories.rules.importers.mcpmemory import read_chain, read_edge, read_row
from memories.rules.importers.records import Foreign, Left, Tie
from memories.rules.vocabulary import MemoryType, Relation

ROW = {
    "content_hash": "ab12",
    "content": "Uses fish as a shell",
    "tags": "shell, tools,",
    "memory_type": "preference",
    "metadata": '{"hostname": "home"}',
    "created_at": 1767600000.5,
    "updated_at": None,
    "updated_at_iso": "2026-01-06T00:00:00Z",
    "deleted_at": None,
}


def test_a_row():
    found = read_row(ROW)
    assert isinstance(found, Foreign)
    values = found.values
    assert (found.key, values["tags"], values["type"]) == ("ab12", ["shell", "tools"], MemoryType.PREFERENCE)
    assert values["extra"] == {"hostname": "home"}
    assert (values["created_at"][:19], values["updated_at"][:10]) == ("2026-01-05T08:00:00", "2026-01-06")


def test_a_type_the_hub_has_not_is_kept_beside():
    found = read_row(ROW | {"memory_type": "decision", "metadata": "no JSON"})
    assert isinstance(found, Foreign)
    assert found.values["type"] == MemoryType.FACT
    assert found.values["extra"] == {"metadata": "no JSON", "memory_type": "decision"}


def test_stores():
    """Version 11.10 has them; the ordinary one says nothing."""
    other, ordinary = read_row(ROW | {"store": "work"}), read_row(ROW | {"store": "default"})
    assert isinstance(other, Foreign) and isinstance(ordinary, Foreign)
    assert (other.values["extra"]["store"], "store" in other.uses) == ("work", True)
    assert ("store" in ordinary.values["extra"], "store" in ordinary.uses) == (False, False)


def test_deleted_and_superseded():
    assert read_row(ROW | {"deleted_at": 1.0}) == Left("deleted_there", "was deleted there")
    old = read_row(ROW | {"superseded_by": "cd34"})
    assert isinstance(old, Foreign) and old.values["archived_reason"] == "superseded"
    assert read_chain(ROW | {"superseded_by": "cd34"}) == Tie("cd34", "ab12", Relation.SUPERSEDES, is_chain=True)
    assert read_chain(ROW) is None


def test_edges():
    edge = {"source_hash": "a", "target_hash": "b", "relationship_type": "contradicts"}
    assert read_edge(edge) == Tie("a", "b", Relation.CONTRADICTS)
    assert read_edge(edge | {"relationship_type": "follows"}) == Tie("a", "b")
    assert read_edge({"source_hash": "a"}) is None


def test_blobs_and_emptiness_are_told():
    for content in (b"\x00", None, " "):
        found = read_row(ROW | {"content": content})
        assert isinstance(found, Left) and found.wanted

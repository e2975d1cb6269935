"""mem0's list and OpenMemory's backup, record by record."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.exchange import FileRefused
from memories.rules.importers.mem0 import read_mem0
from memories.rules.importers.records import Foreign, Left
from memories.rules.vocabulary import Role

ROW = {
    "id": "5f1c",
    "memory": "Prefers tea over coffee",
    "hash": "9e",
    "metadata": {"room": "kitchen"},
    "created_at": "2026-01-05T08:00:00-07:00",
    "updated_at": None,
    "user_id": "mara",
    "run_id": "r1",
    "role": "user",
    "score": 0.4,
}


def only(document: Any) -> Any:
    (found,) = read_mem0(document)
    return found


def test_a_memory_of_the_list():
    found = only({"results": [ROW]})
    assert (found.key, found.values["content"]) == ("5f1c", "Prefers tea over coffee")
    assert found.values["created_at"] == "2026-01-05T08:00:00-07:00"
    assert (found.values["user_id"], found.values["session_id"], found.values["role"]) == ("mara", "r1", Role.HUMAN)
    assert found.values["extra"] == {"room": "kitchen"}
    assert "hash" not in found.uses and "metadata" in found.uses


def test_the_list_of_everybodys_memories():
    """An administrator's list has among the metadata what the index needs, and the role."""
    row = {**ROW, "role": None, "metadata": {"room": "kitchen", "text_lemmatized": "prefer tea", "role": "assistant"}}
    found = only([{**row, "attributed_to": "user"}])
    assert found.values["role"] == Role.AI
    assert found.values["extra"] == {"room": "kitchen", "attributed_to": "user"}


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("2026-11-22", "2026-11-22T23:59:59.999999+00:00"),
        ("2026-11-22T08:00:00Z", "2026-11-22T08:00:00+00:00"),
        ("soon", None),
        (None, None),
    ],
)
def test_what_expires_on_a_day_holds_on_it(there: str | None, here: str | None):
    assert only([{**ROW, "expiration_date": there}]).values["expires_at"] == here


def test_a_bare_list_and_relations_beside_it():
    assert only([ROW]).key == "5f1c"
    memory, relation = read_mem0({"results": [ROW], "relations": [{"source": "a", "relationship": "b"}]})
    assert isinstance(memory, Foreign)
    assert relation == Left("graph_relation", "is a relation of the graph store, which says nothing by itself")


@pytest.mark.parametrize(
    ("state", "archived"),
    [("active", False), ("archived", True), ("paused", True)],
    ids=["active", "archived", "paused"],
)
def test_a_backup_of_openmemory(state: str, archived: bool):
    """Categories and apps are named beside the memories, and so is whose they are."""
    row: dict[str, Any] = {
        "id": "m1",
        "user_id": "0d0e",
        "app_id": "a1",
        "content": "Has a dog",
        "metadata": {},
        "state": state,
        "created_at": "2026-01-05T08:00:00+00:00",
        "updated_at": "2026-01-06T08:00:00+00:00",
        "archived_at": None,
        "category_ids": ["c1", "c9"],
    }
    backup = {
        "user": {"id": "0d0e", "user_id": "mara"},
        "apps": [{"id": "a1", "name": "claude"}],
        "categories": [{"id": "c1", "name": "pets"}],
        "memories": [row],
        "export_meta": {"version": "1"},
    }
    found = only(backup)
    assert (found.values["user_id"], found.values["agent_id"], found.values["tags"]) == ("mara", "claude", ["pets"])
    assert ("archived_at" in found.values) == archived


@pytest.mark.parametrize("row", [{"id": "x"}, {"memory": "no id"}, {"id": "x", "memory": "  "}, 7, None])
def test_what_says_nothing_is_told(row: Any):
    found = only([row])
    assert isinstance(found, Left) and found.wanted


def test_what_was_deleted_there_stays_there():
    assert not only([ROW | {"state": "deleted"}]).wanted


@pytest.mark.parametrize("document", [{}, {"results": {}}, "text", 7, None])
def test_what_is_no_list_is_refused(document: Any):
    with pytest.raises(FileRefused, match="no list of mem0"):
        list(read_mem0(document))

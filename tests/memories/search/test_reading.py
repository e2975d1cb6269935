"""Reads by id: as asked, whatever the state, and nothing beside it."""

from __future__ import annotations

from uuid import UUID

import pytest

from memories.rules.drafts import MemoryChanges
from memories.rules.vocabulary import Relation
from memories.search.reading import get_memory, get_revision, list_links, list_revisions, read_chain, read_memories
from memories.services.editing import update_memory
from memories.services.lifecycle import archive_memory
from memories.services.linking import create_link
from memoryhub.lib.errors import Invalid, NotFound
from memoryhub.lib.ids import new_id
from tests.factories import remember, write


def test_many_are_read_in_the_order_asked(access, other_access):
    """API-07: missing ids are named: unknown, foreign and nonsense alike; what is asked twice comes once."""
    one, two = remember(access, "one"), archive_memory(access, remember(access, "two").pk)
    foreign, unknown = remember(other_access, "theirs").pk, new_id()
    asked: list[str | UUID] = [two.pk, "nonsense", one.pk, foreign, two.pk, unknown]
    found, missing = read_memories(access, asked)
    assert [row.content for row in found] == ["two", "one"]
    assert missing == ["nonsense", str(foreign), str(unknown)]
    assert read_memories(access, []) == ([], [])


def test_one_is_read_whatever_its_state(access):
    """MOD-40, MOD-16: archived rows stay retrievable; unknown ids are errors with a name."""
    memory = archive_memory(access, remember(access).pk)
    assert get_memory(access, str(memory.pk)).archived
    for nothing in (new_id(), "x", "%00"):
        with pytest.raises(NotFound):
            get_memory(access, nothing)


def test_history_is_newest_first(access):
    """MIG-13: each entry holds what was before."""
    memory = remember(access, "v1")
    for text in ("v2", "v3"):
        update_memory(access, memory.pk, MemoryChanges.parse({"content": text}))
    assert [(kept.version, kept.before["content"]) for kept in list_revisions(access, memory.pk)] == [
        (2, "v2"),
        (1, "v1"),
    ]
    assert get_revision(access, memory.pk, 1).before["content"] == "v1"
    with pytest.raises(NotFound):
        get_revision(access, memory.pk, 3)


@pytest.mark.parametrize("relation", [relation for relation in Relation if relation != Relation.SUPERSEDES])
def test_links_are_made_once_and_shown_from_both_ends(access, relation):
    """MOD-41: making one twice gives the same; `supersedes` has a verb of its own; none to itself."""
    one, two = remember(access, "one"), remember(access, "two")
    link = create_link(access, one.pk, two.pk, relation)
    assert create_link(access, one.pk, two.pk, relation).pk == link.pk
    for end in (one, two):
        assert [(found.source_id, found.relation, found.target_id) for found in list_links(access, end.pk)] == [
            (one.pk, relation, two.pk)
        ]
    for refused in ((one.pk, one.pk, relation), (one.pk, two.pk, Relation.SUPERSEDES)):
        with pytest.raises(Invalid):
            create_link(access, *refused)


def test_a_chain_is_read_from_any_of_its_members(access):
    """SUP-07: oldest first, its head last; a memory without one stands alone."""
    chain = [remember(access, "v1")]
    for n in (2, 3, 4):
        chain.append(write(access, f"v{n}", supersedes=str(chain[-1].pk)).memory)
    for memory in chain:
        assert [row.pk for row in read_chain(access, memory.pk)] == [row.pk for row in chain]
    alone = remember(access, "alone")
    assert [row.pk for row in read_chain(access, alone.pk)] == [alone.pk]

"""Archive, review, erase: what each leaves behind, and what it may not."""

from __future__ import annotations

import datetime as dt
from itertools import product

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from memories.models import Memory, Revision
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.status import StatusMoveRefused
from memories.rules.vocabulary import Status
from memories.search.listing import list_memories
from memories.search.recall import search_memories
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory, change_status
from memories.services.revising import DuplicateContent
from memoryhub.lib.errors import NotFound, StaleVersion
from memoryhub.lib.ids import new_id
from tests.factories import access_of, make_key, remember

ALLOWED = {("draft", "accepted"), ("draft", "discard"), ("accepted", "discard")}


@pytest.mark.parametrize("current, new", list(product(Status, Status)))
def test_the_status_moves_only_forward(access, current, new):
    """STA-05, STA-07, CON-10: the full matrix; a refused move writes nothing, an allowed one leaves its history."""
    memory = remember(access, status=current.value)
    if (current.value, new.value) in ALLOWED:
        moved = change_status(access, memory.pk, new, "reviewed")
        assert (moved.status, moved.version) == (new, 2)
        assert Memory.objects.get().updated_at > memory.updated_at
        revision = Revision.objects.get()
        assert (revision.before["status"], revision.changed, revision.reason) == (current, ["status"], "reviewed")
        assert AuditEntry.objects.filter(action="change_status", target_id=memory.pk).count() == 1
    else:
        with pytest.raises(StatusMoveRefused):
            change_status(access, memory.pk, new)
        assert (Memory.objects.get().status, Memory.objects.get().version) == (current, 1)
        assert not Revision.objects.exists()


def test_drafts_and_discarded_ones_are_not_recalled(access):
    """STA-06, STA-09, STA-10: unless asked for; a person can list what waits."""
    for status in Status:
        remember(access, f"a {status} memory about zeppelins", status=status.value)
    hits = search_memories(access, SearchQuery(query="zeppelins", threshold=0.0)).hits
    assert [hit.memory.status for hit in hits] == ["accepted"]
    for status in Status:
        page = list_memories(access, MemoryFilter.parse({"status": status.value, "archived": "any"}))
        assert [row.status for row in page.items] == [status]
    assert list_memories(access, MemoryFilter.parse({"status": "any"})).total == 3


def test_archiving_hides_and_restoring_brings_back(access):
    """MOD-40, API-09: reversible, with a reason, each time a version; repeating changes nothing."""
    memory = remember(access, "about zeppelins")
    archived = archive_memory(access, memory.pk, reason="outdated")
    assert (archived.archived, archived.archived_reason, archived.version, archived.status) == (
        True,
        "outdated",
        2,
        "accepted",
    )
    assert not search_memories(access, SearchQuery(query="zeppelins")).hits
    asked = SearchQuery(query="zeppelins", include_archived=True)
    assert [hit.memory.pk for hit in search_memories(access, asked).hits] == [memory.pk]
    assert archive_memory(access, memory.pk, reason="again").version == 2
    restored = archive_memory(access, memory.pk, archived=False)
    assert (restored.archived, restored.archived_reason, restored.version) == (False, None, 3)
    assert archive_memory(access, memory.pk, archived=False).version == 3
    assert [hit.memory.pk for hit in search_memories(access, SearchQuery(query="zeppelins")).hits] == [memory.pk]


def test_a_twin_that_took_its_place_keeps_it(access):
    """CON-08: restoring would make a second live row: 409."""
    memory = archive_memory(access, remember(access, "tea").pk)
    remember(access, "tea")
    with pytest.raises(DuplicateContent):
        archive_memory(access, memory.pk, archived=False)
    assert Memory.objects.get(pk=memory.pk).archived


@pytest.mark.parametrize(
    "verb",
    [
        lambda access, memory: archive_memory(access, memory, expected_version=7),
        lambda access, memory: change_status(access, memory, Status.DISCARD, expected_version=7),
        lambda access, memory: erase_memory(access, memory, expected_version=7),
    ],
    ids=["archive", "status", "erase"],
)
def test_a_stale_version_changes_nothing(access, verb):
    """API-08: every verb that changes takes If-Match."""
    memory = remember(access)
    with pytest.raises(StaleVersion):
        verb(access, memory.pk)
    assert Memory.objects.get().version == 1


VERBS = {
    KeyScope.MEMORIES_DELETE: lambda access, memory: archive_memory(access, memory),
    KeyScope.MEMORIES_WRITE: lambda access, memory: archive_memory(access, memory, archived=False),
    KeyScope.MEMORIES_APPROVE: lambda access, memory: change_status(access, memory, Status.DISCARD),
    KeyScope.MEMORIES_ERASE: lambda access, memory: erase_memory(access, memory),
}


@pytest.mark.parametrize("scope", VERBS)
def test_each_verb_needs_its_scope(access, scope):
    """S3: every other scope together is not enough, and the right one alone is."""
    memory = remember(access)
    others = frozenset(set(KeyScope) - {scope})
    with pytest.raises(MissingScope):
        VERBS[scope](access_of(make_key(access, others)[1]), memory.pk)
    VERBS[scope](access_of(make_key(access, frozenset({scope}))[1]), memory.pk)


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())
def test_a_foreign_memory_is_unknown_to_every_verb(access, other_access, verb):
    """SUP-07: exactly like an id nobody has."""
    memory, said = remember(other_access), set()
    for target in (memory.pk, new_id(), "nonsense"):
        with pytest.raises(NotFound) as caught:
            verb(access, target)
        said.add(caught.value.message)
    stored = Memory.objects.get()
    assert (stored.version, stored.archived, len(said)) == (1, False, 2)


def test_an_expired_memory_is_not_recalled(access):
    """STA-09, CON-18: honoured by search and lists; it stays readable by id."""
    memory = remember(access, "zeppelins today", expires_at="2999-01-01T00:00:00Z")
    assert search_memories(access, SearchQuery(query="zeppelins")).hits
    Memory.objects.filter(pk=memory.pk).update(expires_at=memory.created_at - dt.timedelta(seconds=1))
    assert not search_memories(access, SearchQuery(query="zeppelins")).hits
    assert list_memories(access, MemoryFilter()).total == 0
    assert list_memories(access, MemoryFilter.parse({"archived": "any"})).total == 1

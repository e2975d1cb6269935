"""Supersession: the new one stands, the old one is archived and says by whom; chains have one live head."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from banks.access import access_from_user
from memories.models import DuplicatePair, Link, Memory
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.vocabulary import Outcome, Status
from memories.search.listing import list_memories
from memories.search.reading import read_chain
from memories.search.recall import search_memories
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory, change_status, supersede_memory
from memories.services.superseding import AlreadySuperseded, SupersedesItself, TrustTooLow
from memoryhub.lib.errors import Conflict, Denied, Invalid, NotFound
from memoryhub.lib.ids import new_id
from tests.factories import remember, write


def head(memory: Memory) -> Memory:
    return read_chain_of(memory)[-1]


def read_chain_of(memory: Memory) -> list[Memory]:
    chain, seen = [Memory.objects.get(pk=memory.pk)], set()
    while chain[-1].superseded_by_id is not None:
        assert chain[-1].pk not in seen, "a cycle"
        seen.add(chain[-1].pk)
        chain.append(Memory.objects.get(pk=chain[-1].superseded_by_id))
    return chain


def test_a_correction_replaces_what_it_names(access):
    """SUP-01, SUP-02, SUP-03, CON-23: `supersededById` on the new one names the old one, as the seed documents it."""
    old = remember(access, "Bob lives in Oslo.", type="fact", category="semantic", bank="Personal", user_id="bob")
    result = write(access, "Bob lives in Bergen.", type="correction", supersededById=str(old.pk))
    assert (result.outcome, result.superseded_id) == (Outcome.SUPERSEDED, old.pk)
    old.refresh_from_db()
    assert (old.archived, old.superseded_by_id, old.status) == (True, result.memory.pk, "accepted")
    assert old.version == 2
    link = Link.objects.get()
    assert (link.source_id, link.relation, link.target_id) == (result.memory.pk, "supersedes", old.pk)
    new = Memory.objects.get(pk=result.memory.pk)
    assert (new.bank.name, new.user_id, new.category) == ("Personal", "bob", "semantic")


def test_the_old_one_is_not_found_any_more(access):
    """SUP-02, STA-09: recall and lists show the new one only; asked for, the old one is still there."""
    old = remember(access, "Bob lives in Oslo.")
    new = write(access, "Bob lives in Bergen.", supersedes=str(old.pk)).memory
    found = search_memories(access, SearchQuery(query="where does Bob live?", threshold=0.0))
    assert [hit.memory.pk for hit in found.hits] == [new.pk]
    assert [row.pk for row in list_memories(access, MemoryFilter()).items] == [new.pk]
    archived = list_memories(access, MemoryFilter.parse({"archived": "true"}))
    assert [row.pk for row in archived.items] == [old.pk]


@pytest.mark.parametrize("which", ["unknown", "foreign", "nonsense"])
def test_what_is_not_there_cannot_be_superseded(access, other_access, which):
    """SUP-07: another vault's id answers exactly like an unknown one; nothing is written."""
    target = {"unknown": new_id(), "foreign": remember(other_access, "theirs").pk, "nonsense": "x"}[which]
    with pytest.raises(NotFound):
        write(access, "new", supersedes=str(target))
    assert not Memory.objects.filter(vault=access.vault).exists()
    assert not Memory.objects.get(vault=other_access.vault).archived


def test_a_superseded_one_names_its_head(access):
    """SUP-07: whoever comes late learns which memory stands now."""
    first = remember(access, "v1")
    second = write(access, "v2", supersedes=str(first.pk)).memory
    third = write(access, "v3", supersedes=str(second.pk)).memory
    with pytest.raises(AlreadySuperseded) as caught:
        write(access, "v2b", supersedes=str(first.pk))
    assert caught.value.extra == {"head_id": str(third.pk)}
    assert [row.pk for row in read_chain(access, second.pk)] == [first.pk, second.pk, third.pk]
    assert Memory.objects.recallable(third.created_at).count() == 1


def test_a_draft_waits_before_it_replaces(access):
    """STA-03, CON-10: accepting it does what was promised; until then the old one stands."""
    old = remember(access, "v1")
    result = write(access, "v2", supersedes=str(old.pk), status="draft")
    assert (result.outcome, result.superseded_id) == (Outcome.CREATED, None)
    old.refresh_from_db()
    assert (old.archived, old.superseded_by_id) == (False, None)
    change_status(access, result.memory.pk, Status.ACCEPTED)
    old.refresh_from_db()
    assert (old.archived, old.superseded_by_id) == (True, result.memory.pk)


def test_a_discarded_draft_replaces_nothing(access):
    """STA-07: the promise goes with it."""
    old = remember(access, "v1")
    draft = write(access, "v2", supersedes=str(old.pk), status="draft").memory
    change_status(access, draft.pk, Status.DISCARD)
    old.refresh_from_db()
    assert not old.archived


def test_what_is_discarded_replaces_nothing(access):
    """SUP-07: a memory nobody may recall cannot stand in for one that is."""
    old = remember(access, "v1")
    new = write(access, "v2", supersedes=str(old.pk), status="discard")
    assert new.superseded_id is None
    change_status(access, (other := remember(access, "v3")).pk, Status.DISCARD)
    supersede_memory(access, old.pk, other.pk)
    old.refresh_from_db()
    assert (old.archived, old.superseded_by_id) == (False, None)


def test_two_drafts_for_one_memory(access):
    """SUP-07: the first that is accepted replaces it; then the two of them wait for review."""
    old = remember(access, "v1")
    drafts = [write(access, f"v2 of {n}", supersedes=str(old.pk), status="draft").memory for n in range(2)]
    for draft in drafts:
        change_status(access, draft.pk, Status.ACCEPTED)
    old.refresh_from_db()
    assert old.superseded_by_id == drafts[0].pk
    pair = DuplicatePair.objects.get()
    assert (pair.older_id, pair.newer_id, pair.kind) == (drafts[0].pk, drafts[1].pk, "contradiction")


def test_an_untrusted_source_replaces_nothing_that_is_trusted(access):
    """DESIGN §6: text from the web cannot retire what a person said; nothing is written."""
    old = remember(access, "said by a person", source_kind="user_stated")
    with pytest.raises(TrustTooLow):
        write(access, "found on the web", supersedes=str(old.pk), source_kind="web")
    old.refresh_from_db()
    assert not old.archived
    assert Memory.objects.count() == 1
    other = remember(access, "also from the web", source_kind="web")
    assert write(access, "newer web", supersedes=str(other.pk), source_kind="web").outcome == Outcome.SUPERSEDED


def supersede_self(access, memories):
    supersede_memory(access, memories[0].pk, memories[0].pk)


def supersede_in_a_circle(access, memories):
    supersede_memory(access, memories[0].pk, memories[1].pk)
    supersede_memory(access, memories[1].pk, memories[2].pk)
    supersede_memory(access, memories[2].pk, memories[0].pk)


def supersede_twice(access, memories):
    supersede_memory(access, memories[0].pk, memories[1].pk)
    supersede_memory(access, memories[0].pk, memories[2].pk)


@pytest.mark.parametrize(
    "attempt, error",
    [
        (supersede_self, SupersedesItself),
        (supersede_in_a_circle, SupersedesItself),
        (supersede_twice, AlreadySuperseded),
    ],
)
def test_chains_have_one_head_and_no_circle(access, attempt: Callable[..., None], error: type[Conflict]):
    """SUP-07: self-supersession and cycles are refused, and every chain still ends."""
    memories = [remember(access, f"v{n}") for n in range(3)]
    with pytest.raises(error):
        attempt(access, memories)
    for memory in memories:
        assert head(memory).superseded_by_id is None


def test_a_protected_memory_gives_way_only_to_an_explicit_wish(access):
    """SUP-08: naming it is the wish."""
    old = remember(access, "v1", is_protected=True)
    assert write(access, "v2", supersedes=str(old.pk)).outcome == Outcome.SUPERSEDED


def test_restoring_takes_a_memory_out_of_its_chain(access):
    """SUP-07: undo restores the old row; both stand again, and the link is gone."""
    old = remember(access, "v1")
    new = write(access, "v2", supersedes=str(old.pk)).memory
    restored = archive_memory(access, old.pk, archived=False)
    assert (restored.archived, restored.superseded_by_id) == (False, None)
    assert not Link.objects.exists()
    assert not Memory.objects.get(pk=new.pk).archived


def test_erasing_the_head_leaves_the_others_in_order(access):
    """SUP-07: what it replaced stays archived, points nowhere, and can be restored."""
    old = remember(access, "v1")
    new = write(access, "v2", supersedes=str(old.pk)).memory
    erase_memory(access, new.pk)
    old.refresh_from_db()
    assert (old.archived, old.superseded_by_id) == (True, None)
    assert not archive_memory(access, old.pk, archived=False).archived


def test_superseding_an_existing_memory_needs_to_write(access, viewer):
    """API-17: a reader changes no chain."""
    from_viewer = access_from_user(viewer, access.vault_id, "r")
    one, two = remember(access, "one"), remember(access, "two")
    with pytest.raises(Denied):
        supersede_memory(from_viewer, one.pk, two.pk)


def test_what_was_there_already_takes_the_place_too(access):
    """SUP-02: an explicit supersession is never dropped because the new text stands already."""
    old, twin = remember(access, "The door is red."), remember(access, "The door is blue.")
    result = write(access, "The door is blue", supersedes=str(old.pk))
    assert (result.outcome, result.memory.pk, result.superseded_id) == ("superseded", twin.pk, old.pk)
    assert Memory.objects.get(pk=old.pk).superseded_by_id == twin.pk


def test_supersession_stays_in_its_namespace(access):
    """MOD-21: two namespaces never mix."""
    old = remember(access, "one", namespace=["alpha"])
    with pytest.raises(Invalid):
        write(access, "two", namespace=["beta"], supersedes=str(old.pk))
    assert Memory.objects.get(pk=old.pk).superseded_by_id is None

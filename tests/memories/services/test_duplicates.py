"""The review list: what waits, what each decision does to the memories, and that it can be taken back."""

from __future__ import annotations

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from memories.models import Changeset, DuplicatePair, Link, Memory, Revision
from memories.rules.drafts import MemoryChanges, Resolution
from memories.rules.vocabulary import PairKind, PairState, Status
from memories.services.duplicates import PairDecided, PairOpen, get_pair, list_pairs, reopen_pair, resolve_pair
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory, change_status
from memories.services.revising import ChangedSince
from memories.services.superseding import TrustTooLow
from memoryhub.lib.errors import Conflict, Invalid, NotFound
from tests.factories import access_of, make_key, make_pair, remember


@pytest.fixture
def older(access):
    return remember(access, "Ada lives in Oslo.", tags=["home"], entities=["Ada"])


@pytest.fixture
def newer(access):
    return remember(access, "Ada lives in Bergen.", tags=["city"], entities=["Ada", "Bergen"])


@pytest.fixture
def pair(older, newer):
    return make_pair(older, newer)


def decide(access, pair, decision: str, **more) -> DuplicatePair:
    return resolve_pair(access, pair.pk, Resolution.parse({"decision": decision, **more}))


@pytest.mark.parametrize("decision, state", [("keep_both", "kept_both"), ("not_duplicate", "not_duplicate")])
def test_a_decision_without_consequences_is_remembered(access, pair, decision, state):
    """DUP-28: both memories stay as they are, and who decided, when and why is kept."""
    decided = decide(access, pair, decision, reason="two homes")
    assert (decided.state, decided.reason, decided.decided_by_kind) == (state, "two homes", "system")
    assert decided.decided_at is not None
    assert decided.changeset is None
    assert list_pairs(access).items == []
    assert [one.pk for one in list_pairs(access, PairState(state)).items] == [pair.pk]
    assert not Revision.objects.exists()
    assert AuditEntry.objects.get(action="resolve_pair").target_id == pair.pk


def test_the_newer_takes_the_olders_place(access, pair, older, newer):
    """SUP-02, SUP-03: as any supersession: archived, linked, one live head, in one changeset."""
    decided = decide(access, pair, "supersede", reason="moved")
    older.refresh_from_db()
    assert (older.superseded_by_id, older.archived) == (newer.pk, True)
    assert Link.objects.get().relation == "supersedes"
    assert decided.changeset is not None
    items = [(item.memory_id, item.version_before, item.version_after) for item in decided.changeset.items.all()]
    assert items == [(older.pk, 1, 2)]
    assert Revision.objects.get(memory=older).changeset_id == decided.changeset_id


def test_the_older_may_take_the_newers_place(access, pair, older, newer):
    decide(access, pair, "supersede", keep="older")
    newer.refresh_from_db()
    assert newer.superseded_by_id == older.pk


def test_merging_keeps_one_memory_with_the_merged_text(access, pair, older, newer):
    """DUP-11: the older keeps its id and gets the merged content and the labels of both; the newer names it."""
    decide(access, pair, "merge", content="Ada moved from Oslo to Bergen.")
    older.refresh_from_db()
    newer.refresh_from_db()
    assert older.content == "Ada moved from Oslo to Bergen."
    assert (older.tags, older.entities) == (["home", "city"], ["Ada", "Bergen"])
    assert (newer.superseded_by_id, newer.archived) == (older.pk, True)


def test_the_merged_text_may_be_what_one_of_them_said(access, pair, older, newer):
    """DEF-15: the other one goes first, so its text is free."""
    decide(access, pair, "merge", content="Ada lives in Bergen.")
    assert Memory.objects.live().get().content == "Ada lives in Bergen."
    reopened = reopen_pair(access, pair.pk)
    assert reopened.state == PairState.OPEN
    assert Memory.objects.live().count() == 2


def test_merging_needs_the_merged_text(access, pair):
    with pytest.raises(Invalid) as caught:
        decide(access, pair, "merge")
    assert caught.value.errors[0].pointer == "/content"
    assert not Changeset.objects.exists()


@pytest.mark.parametrize("decision, more", [("merge", {"content": "Ada, Oslo, Bergen."}), ("supersede", {})])
def test_a_decision_can_be_taken_back(access, pair, older, newer, decision, more):
    """CON-17, SUP-07: memories are as they were, as new versions; nothing of the detour is lost; the pair waits."""
    decide(access, pair, decision, **more)
    reopen_pair(access, pair.pk)
    for memory, content, tags in (
        (older, "Ada lives in Oslo.", ["home"]),
        (newer, "Ada lives in Bergen.", ["city"]),
    ):
        memory.refresh_from_db()
        assert (memory.content, memory.tags, memory.archived) == (content, tags, False)
        assert memory.superseded_by_id is None
    assert not Link.objects.exists()
    assert Changeset.objects.get().state == "undone"
    assert [one.pk for one in list_pairs(access).items] == [pair.pk]


def test_what_was_changed_since_is_not_overwritten(access, pair, older):
    """MOD-47: undoing refuses rather than losing a later edit."""
    decide(access, pair, "merge", content="Ada, Oslo, Bergen.")
    update_memory(access, older.pk, MemoryChanges.parse({"content": "Ada, Oslo, Bergen and Tromsø."}))
    with pytest.raises(ChangedSince):
        reopen_pair(access, pair.pk)
    older.refresh_from_db()
    assert older.content == "Ada, Oslo, Bergen and Tromsø."


def test_one_decision_at_a_time(access, pair):
    with pytest.raises(PairOpen):
        reopen_pair(access, pair.pk)
    decide(access, pair, "keep_both")
    with pytest.raises(PairDecided):
        decide(access, pair, "supersede")


def test_an_untrusted_memory_cannot_be_kept_for_a_trusted_one(access, older):
    """DESIGN §6: not even by a decision; raising its trust first is one."""
    pair = make_pair(older, remember(access, "Ada lives in Bergen!?", source_kind="web"))
    with pytest.raises(TrustTooLow):
        decide(access, pair, "supersede")
    decide(access, pair, "supersede", keep="older")


def test_merged_text_is_believed_no_more_than_its_sources(access):
    """DESIGN §6: derived = min(parents)."""
    stated = remember(access, "Ada lives in Oslo.", source_kind="user_stated")
    inferred = remember(access, "Ada lives in Bergen.", source_kind="agent_inferred")
    decide(access, make_pair(stated, inferred), "merge", content="Ada lives in Oslo or Bergen.")
    stated.refresh_from_db()
    assert stated.trust == "inferred"


def test_a_draft_cannot_stand_for_an_accepted_memory(access, older):
    """STA-03."""
    pair = make_pair(older, remember(access, "Ada lives in Bergen?", status="draft"))
    with pytest.raises(Conflict):
        decide(access, pair, "supersede")
    older.refresh_from_db()
    assert not older.archived
    assert get_pair(access, pair.pk).state == PairState.OPEN


def test_only_pairs_that_need_a_decision_are_listed(access, pair, older, newer):
    """What was archived, replaced or discarded meanwhile is settled; restored, it waits again."""
    archive_memory(access, older.pk)
    assert list_pairs(access).total == 0
    archive_memory(access, older.pk, archived=False)
    assert list_pairs(access).total == 1
    assert list_pairs(access, kinds=[PairKind.CONTRADICTION]).total == 0
    change_status(access, newer.pk, Status.DISCARD)
    assert list_pairs(access).total == 0


def test_pages_follow_each_other(access):
    memories = [remember(access, f"Locker {n} is Ada's.", dedup=False) for n in range(6)]
    pairs = [make_pair(*memories[n : n + 2]) for n in range(5)]
    first = list_pairs(access, limit=3)
    rest = list_pairs(access, limit=3, cursor=first.next_cursor)
    assert [one.pk for one in first.items + rest.items] == [one.pk for one in reversed(pairs)]
    assert (first.total, rest.next_cursor) == (5, None)


def test_erasing_a_memory_takes_its_pairs(access, pair, older):
    """The receipt counts them."""
    assert erase_memory(access, older.pk).removed["duplicate_pairs"] == 1
    assert not DuplicatePair.objects.exists()


def test_a_pair_is_hidden_with_either_memory(access, older):
    """BNK-02: a key limited to a bank never learns of the other half."""
    pair = make_pair(older, remember(access, "Ada lives in Bergen.", bank="Health"))
    limited = access_of(make_key(access, banks=["General"])[1])
    assert list_pairs(limited).total == 0
    for attempt in (get_pair, reopen_pair):
        with pytest.raises(NotFound):
            attempt(limited, pair.pk)
    with pytest.raises(NotFound):
        decide(limited, pair, "keep_both")


def test_deciding_needs_to_write(access, pair):
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    assert get_pair(reader, pair.pk).pk == pair.pk
    with pytest.raises(MissingScope):
        decide(reader, pair, "keep_both")

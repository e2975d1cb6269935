"""Drafts are approved, corrected, rejected one by one or by source; a rejection is taken back as one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from memories.models import ChangesetItem, Memory
from memories.rules.filters import MemoryFilter
from memories.rules.status import StatusMoveRefused
from memories.services.reviewing import (
    DraftsChanged,
    ReviewUndone,
    approve_draft,
    count_waiting,
    reject_draft,
    reject_drafts,
    undo_rejection,
)
from memories.services.revising import ChangedSince
from memoryhub.lib.errors import NotFound, StaleVersion
from tests.factories import make_pair, remember

pytestmark = pytest.mark.django_db


def draft(access: Access, content: str, **more: object) -> Memory:
    return remember(access, content, status="draft", **more)


def test_a_draft_is_approved_with_its_text_corrected(access: Access):
    """STA-05, STA-07."""
    memory = draft(access, "Likes tee.")
    assert approve_draft(access, memory.pk, "Likes tea.", memory.version).status == "accepted"
    memory.refresh_from_db()
    assert (memory.content, memory.status, memory.version) == ("Likes tea.", "accepted", 3)
    with pytest.raises(StaleVersion):
        approve_draft(access, draft(access, "Another.").pk, expected_version=7)
    with pytest.raises(StatusMoveRefused):
        approve_draft(access, memory.pk)


def test_all_of_a_source_are_rejected_and_come_back_together(access: Access):
    junk = [draft(access, f"Junk {number}.", session_id="noisy") for number in range(3)]
    other = draft(access, "Useful.", session_id="calm")
    wanted = MemoryFilter.parse({"session_id": ["noisy"]})
    with pytest.raises(DraftsChanged, match="3 drafts match now, not 2"):
        reject_drafts(access, wanted, 2)

    changeset = reject_drafts(access, wanted, 3, "a broken extractor")
    assert {row.status for row in Memory.objects.filter(pk__in=[one.pk for one in junk])} == {"discard"}
    assert Memory.objects.get(pk=other.pk).status == "draft"
    assert ChangesetItem.objects.filter(changeset=changeset).count() == 3
    assert changeset.reason == "a broken extractor"

    assert undo_rejection(access, changeset.pk) == 3
    assert {row.status for row in Memory.objects.filter(pk__in=[one.pk for one in junk])} == {"draft"}
    with pytest.raises(ReviewUndone):
        undo_rejection(access, changeset.pk)


def test_only_drafts_are_rejected(access: Access):
    accepted = remember(access, "Accepted long ago.", session_id="noisy")
    with pytest.raises(DraftsChanged):
        reject_draft(access, accepted.pk)
    assert reject_drafts(access, MemoryFilter.parse({"session_id": ["noisy"]}), 0).items.count() == 0
    assert Memory.objects.get(pk=accepted.pk).status == "accepted"


def test_a_rejection_that_something_followed_is_not_taken_back(access: Access):
    memory = draft(access, "Junk.")
    changeset = reject_draft(access, memory.pk)
    Memory.objects.filter(pk=memory.pk).update(version=9)
    with pytest.raises(ChangedSince):
        undo_rejection(access, changeset.pk)
    with pytest.raises(NotFound):
        undo_rejection(access, memory.pk)


def test_what_waits_is_counted(access: Access):
    draft(access, "A draft.")
    texts = ("Alice is 30.", "Alice is 31.", "Alice is not 30.")
    one, two, three = (remember(access, text, dedup=False) for text in texts)
    make_pair(one, two)
    make_pair(one, three, kind="contradiction")
    waiting = count_waiting(access)
    assert (waiting.drafts, waiting.duplicates, waiting.contradictions, waiting.total) == (1, 1, 1, 3)


def test_reviewing_needs_its_scope(access: Access):
    memory = draft(access, "A draft.")
    reader = replace(access, scopes=access.scopes - {KeyScope.MEMORIES_APPROVE})
    for verb in (approve_draft, reject_draft, undo_rejection):
        with pytest.raises(MissingScope):
            verb(reader, memory.pk)
    with pytest.raises(MissingScope):
        reject_drafts(reader, MemoryFilter(), 1)

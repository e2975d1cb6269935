"""An erased memory leaves no text behind in a summary, and takes nothing else with it."""

from __future__ import annotations

import pytest

from banks.access import Access
from memories.models import ClusterSummary, Memory
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory
from memories.services.unsummarizing import undo_summary
from memoryhub.lib.errors import NotFound
from tests.clusters import GARDEN, live, old, summarise

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_summary_goes_and_the_other_sources_come_back(access: Access):
    first, *others = old(access, *GARDEN)
    summarise(access)
    assert len(live()) == 1
    erase_memory(access, first.pk)
    assert live() == GARDEN[1:]
    assert not ClusterSummary.objects.exists()
    assert not Memory.objects.filter(is_summarized=True).exists()
    restored = Memory.objects.get(pk=others[0].pk).revisions.order_by("-version")[0]
    assert restored.reason == "the summary that stood for it was erased"


def test_what_a_person_archived_stays_archived(access: Access):
    """Brought back and archived again for another reason; or the summary itself was archived."""
    first, second, _ = old(access, *GARDEN)
    summarise(access)
    archive_memory(access, second.pk, archived=False)
    archive_memory(access, second.pk, reason="wrong")
    erase_memory(access, first.pk)
    assert live() == GARDEN[2:]
    first, *_ = old(access, *GARDEN, user_id="bob")
    summarise(access)
    archive_memory(access, Memory.objects.get(is_summarized=True).pk)
    erase_memory(access, first.pk)
    assert live() == GARDEN[2:]


def test_a_summary_that_is_erased_for_itself_leaves_its_sources_alone(access: Access):
    old(access, *GARDEN)
    summarise(access)
    made = Memory.objects.get(is_summarized=True)
    update_memory(access, made.pk, MemoryChanges.parse({"importance": 5}))
    erase_memory(access, made.pk)
    assert live() == []
    assert Memory.objects.count() == 3


def test_undoing_one_summary_leaves_the_others_of_its_run(access: Access):
    old(access, *GARDEN)
    old(access, *GARDEN, user_id="bob")
    summarise(access)
    one, other = Memory.objects.filter(is_summarized=True)
    report = undo_summary(access, one.pk)
    assert (report.undone, report.is_clean) == (4, True)
    assert len(live()) == 4
    assert other.content in live()
    with pytest.raises(NotFound):
        undo_summary(access, one.summarized_from[0])

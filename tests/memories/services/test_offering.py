"""Clusters are looked at before anything happens, and chosen by whoever may change that much."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from banks.access import Access
from memories.models import ClusterSummary, Job, Memory, ModelCall
from memories.rules.settings import Level
from memories.services.offering import SummarizationOff, preview_clusters, summarize_memories
from memories.services.settings import write_setting
from memories.services.undoing import undo_changeset
from memoryhub.lib.errors import Invalid
from memoryhub.lib.ids import new_id
from tests.clusters import GARDEN, live, old, summarise
from tests.endpoint import chat_model
from tests.factories import access_of, make_key

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_preview_names_members_and_reasons_and_changes_nothing(access: Access, monkeypatch: pytest.MonkeyPatch):
    """Before a token is spent: who, why, and about how many tokens it would take."""
    sources = old(access, *GARDEN, tags=["garden"])
    old(access, "Ann plays chess on Tuesdays.")
    assert preview_clusters(access).clusters[0].tokens == 0
    with chat_model(monkeypatch) as chat:
        preview = preview_clusters(access)
        assert chat.asked == []
    (one,) = preview.clusters
    assert [memory.pk for memory in one.memories] == list(one.found.memory_ids) == [source.pk for source in sources]
    assert (one.found.strategy, one.found.shared, one.was_undone) == ("hybrid", ("#garden",), False)
    assert one.found.least is not None
    assert one.found.mean is not None
    assert 0.7 <= one.found.least <= one.found.mean <= 1.0
    assert 200 < one.tokens < 1_000
    assert (preview.total, preview.examined, preview.is_whole, preview.is_on) == (1, 4, True, True)
    assert not ModelCall.objects.exists()
    assert not Job.objects.filter(kind="summarize_memories").exists()


def test_labels_alone_make_clusters_where_the_vault_says_so(access: Access):
    """CLU-08."""
    write_setting(access, Level.VAULT, "summarization_strategy", "tags")
    old(access, "Tea at four.", "The kettle is blue.", "Oolong is out of stock.", fact_key="tea")
    (one,) = preview_clusters(access).clusters
    assert (one.found.least, one.found.shared) == (None, ("fact key tea",))


def test_a_preview_of_one_bank(access: Access):
    old(access, *GARDEN, bank="Work")
    old(access, *GARDEN, bank="Health")
    assert preview_clusters(access).total == 2
    assert preview_clusters(access, limit=1).total == 2
    assert len(preview_clusters(access, limit=1).clusters) == 1
    (one,) = preview_clusters(access, "work").clusters
    assert {memory.bank.name for memory in one.memories} == {"Work"}


def test_only_the_chosen_clusters_are_summarised(access: Access):
    """By hand, in the name of whoever asked."""
    chosen, _ = old(access, *GARDEN), old(access, *GARDEN, user_id="bob")
    summarize_memories(access, [[memory.pk for memory in chosen]])
    assert summarise(access).stage == "1 summary"
    made = ClusterSummary.objects.get()
    assert made.strategy == "chosen"
    assert set(made.memory.summarized_from) == {memory.pk for memory in chosen}
    assert made.changeset is not None
    assert made.changeset.actor_kind == access.actor.kind


def test_what_was_undone_is_offered_and_summarised_again_only_when_chosen(access: Access):
    """CLU-19."""
    ids = [memory.pk for memory in old(access, *GARDEN)]
    summarize_memories(access)
    summarise(access)
    changeset = ClusterSummary.objects.get().changeset
    assert changeset is not None
    undo_changeset(access, changeset.pk)
    assert preview_clusters(access).clusters[0].was_undone
    summarize_memories(access)
    assert summarise(access).stage == "0 summaries"
    summarize_memories(access, [ids])
    assert summarise(access).stage == "1 summary"
    assert len(live()) == 1


WRONG: dict[str, Callable[[Access], list[list[Any]]]] = {
    "cluster_size": lambda access: [[*(one.pk for one in old(access, *GARDEN[:2]))]],
    "crosses_scopes": lambda access: [[one.pk for user in "abc" for one in old(access, GARDEN[0], user_id=user)]],
    "not_summarizable": lambda access: [[*(one.pk for one in old(access, *GARDEN)), new_id()]],
    "named_twice": lambda access: [[one.pk for one in old(access, *GARDEN)] * 2],
}


@pytest.mark.parametrize("code", WRONG)
def test_what_cannot_become_one_is_refused_with_its_reason(access: Access, code: str):
    """CLU-17: nothing is enqueued."""
    clusters = WRONG[code](access)
    with pytest.raises(Invalid) as caught:
        summarize_memories(access, clusters)
    assert [(item.pointer, item.code) for item in caught.value.errors] == [("/clusters/0", code)]
    assert not Job.objects.filter(kind="summarize_memories").exists()


def test_switched_off_is_said(access: Access):
    """CFG-01."""
    old(access, *GARDEN)
    write_setting(access, Level.VAULT, "enable_summarization", False)
    assert not preview_clusters(access).is_on
    with pytest.raises(SummarizationOff):
        summarize_memories(access)


def test_a_key_limited_to_banks_summarises_only_there(access: Access):
    """BNK-02: also later, when the job runs."""
    old(access, *GARDEN, bank="Work")
    old(access, *GARDEN, bank="Health")
    limited = access_of(make_key(access, banks=["Work"])[1])
    assert preview_clusters(limited).total == 1
    summarize_memories(limited)
    summarise(access)
    assert Memory.objects.get(is_summarized=True).bank.name == "Work"

"""Clean-up plans: what they hold, what is chosen, and that it stays as it was planned."""

from __future__ import annotations

import datetime as dt

import pytest
import time_machine

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from memories.models import CleanupExemption, CleanupPlan, CleanupPlanItem, Memory
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupclusters import KeptFor
from memories.rules.cleanupwishes import CleanupWish, PlanChoice
from memories.rules.settings import Level
from memories.rules.vocabulary import IndexState
from memories.services.cleanup import QueryNotUnderstood
from memories.services.erasing import erase_memory
from memories.services.plans import (
    PlanItemFilter,
    PlanNotReady,
    choose_items,
    create_plan,
    forget_plans,
    get_plan,
    list_clusters,
    list_first_items,
    list_plan_items,
    list_plans,
)
from memories.services.settings import write_setting
from memories.services.superseding import TrustTooLow
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import access_of, make_key, make_pair, remember

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def wish(*rules: str, query: str | None = None) -> CleanupWish:
    return CleanupWish.parse({name: value for name, value in (("rules", list(rules)), ("query", query)) if value})


def choose(**more: object) -> PlanChoice:
    return PlanChoice.parse(more)


def aged(access: Access, days: int, text: str, **more: object) -> Memory:
    return remember(access, text, created_at=str(now() - days * DAY), **more)


def named(access: Access, plan) -> dict[str, list[str]]:
    return {item.memory.content: item.reasons for item in list_plan_items(access, plan.pk).items}


@pytest.fixture
def stale(access: Access) -> list[Memory]:
    return [aged(access, 40, f"Episode {n} of long ago.", type="episodic", importance=1) for n in range(3)]


def test_a_plan_holds_every_candidate_with_reasons_and_version(access: Access, stale) -> None:
    """CLN-06, CLN-08: the seed's four without being asked; nothing changes."""
    before = list(Memory.objects.order_by("pk").values_list("pk", "version", "archived_at", "updated_at"))
    remember(access, "Fresh.")
    plan = create_plan(access)
    assert (plan.state, plan.count, plan.candidates) == ("ready", 3, 3)
    assert plan.by_reason == {"stale_episodic": 3, "low_stale": 3}
    assert plan.rules == ["stale_episodic", "low_stale", "failed_indexing", "superseded"]
    items = list_plan_items(access, plan.pk)
    assert [(item.memory_id, item.version) for item in items.items] == [(memory.pk, 1) for memory in stale]
    assert items.total == 3
    first = list_first_items(access, plan, 2)
    assert [item.memory_id for item in first[CleanupRule.LOW_STALE].items] == [memory.pk for memory in stale[:2]]
    assert {rule.value: page.total for rule, page in first.items() if page.total} == plan.by_reason
    assert list_first_items(access, plan, 0)[CleanupRule.LOW_STALE].items == []
    assert list(Memory.objects.order_by("pk").values_list("pk", "version", "archived_at", "updated_at"))[:3] == before


def test_the_rules_to_opt_in(access: Access) -> None:
    expired = remember(access, "Parking is free today.", expires_at=str(now() + DAY))
    Memory.objects.filter(pk=expired.pk).update(expires_at=now() - DAY)
    aged(access, 91, "Nobody asked for it.")
    recalled = aged(access, 91, "Somebody asked for it.")
    Memory.objects.filter(pk=recalled.pk).update(last_accessed_at=now())
    remember(access, "About herons.", tags=["birds"])
    assert create_plan(access).count == 0
    assert named(access, create_plan(access, wish("expired", "never_recalled"))) == {
        "Parking is free today.": ["expired"],
        "Nobody asked for it.": ["never_recalled"],
    }
    assert named(access, create_plan(access, wish(query="tag:birds"))) == {"About herons.": ["query"]}


def test_a_query_is_understood_whole_or_not_at_all(access: Access) -> None:
    """A clean-up does not guess; nor does it take what is protected."""
    remember(access, "About herons.", tags=["birds"], is_protected=True)
    with pytest.raises(QueryNotUnderstood):
        create_plan(access, wish(query="tag:birds colour:blue"))
    assert create_plan(access, wish(query="tag:birds")).count == 0
    with pytest.raises(Invalid):
        wish("query")


@pytest.mark.parametrize("query", ['""', '-""', '" "', '"" ""', '-" "'])
def test_a_query_for_nothing_is_not_the_whole_vault(access: Access, query: str) -> None:
    """In a list it is no limit; a clean-up would archive everything."""
    remember(access, "About herons.")
    with pytest.raises(QueryNotUnderstood) as refused:
        create_plan(access, wish(query=query))
    assert [(error.pointer, error.code) for error in refused.value.errors] == [("/query", "names_nothing")]


def test_equal_texts_keep_the_best_of_them(access: Access) -> None:
    first = remember(access, "The lake freezes in January.")
    second = remember(access, "The lake freezes in January!", dedup=False, importance=5)
    third = remember(access, "the lake freezes in january", dedup=False)
    remember(access, "The lake freezes in January.", dedup=False, user_id="ada")
    plan = create_plan(access, wish("exact_duplicate"))
    assert plan.count == 2
    ((kept, *others),), following = list_clusters(access, plan.pk)
    assert following is None
    assert (kept.memory_id, kept.stays, kept.cluster.why) == (second.pk, True, KeptFor.IMPORTANCE)
    assert [item.memory_id for item in others] == [first.pk, third.pk]


def test_near_duplicates_come_from_the_review_unless_a_fact_differs(access: Access) -> None:
    texts = (
        "The heron nests by the lake.",
        "A heron has its nest beside the lake.",
        "The bus leaves at 9.",
        "The bus at 8.",
    )
    one, other, nine, eight = (remember(access, text, dedup=False) for text in texts)
    make_pair(one, other, similarity=0.9, differences=["wording"])
    make_pair(nine, eight, similarity=0.95, differences=["number"], kind="contradiction")
    plan = create_plan(access, wish("near_duplicate"))
    ((kept, gone),), _ = list_clusters(access, plan.pk)
    assert (kept.memory_id, gone.memory_id, gone.similarity) == (other.pk, one.pk, 0.9)


def test_swapping_the_keeper_changes_count_and_hash(access: Access) -> None:
    one = remember(access, "The lake freezes.", source_kind="user_stated")
    other = remember(access, "The lake freezes!", dedup=False, importance=5, source_kind="user_stated")
    plan = create_plan(access, wish("exact_duplicate"))
    swapped = choose_items(access, plan.pk, choose(keeper=str(one.pk)))
    assert (swapped.count, swapped.plan_hash != plan.plan_hash) == (1, True)
    (chosen,) = list_plan_items(access, plan.pk, PlanItemFilter(ticked=True)).items
    assert (chosen.memory_id, chosen.cluster.kept_id, chosen.cluster.proposed_id) == (other.pk, one.pk, other.pk)
    Memory.objects.filter(pk=other.pk).update(trust="untrusted")
    with pytest.raises(TrustTooLow):
        choose_items(access, plan.pk, choose(keeper=str(other.pk)))
    with pytest.raises(Invalid):
        choose_items(access, plan.pk, choose(keeper=str(remember(access, "Alone.").pk)))


def test_ticking_one_by_one_by_rule_and_all(access: Access, stale) -> None:
    plan = create_plan(access)
    first = plan.plan_hash
    one = choose_items(access, plan.pk, choose(memory_ids=[str(stale[0].pk)], ticked=False))
    assert (one.count, one.candidates, one.by_reason["low_stale"]) == (2, 3, 2)
    assert choose_items(access, plan.pk, choose(reason="low_stale", ticked=False)).count == 0
    again = choose_items(access, plan.pk, choose(ticked=True))
    assert (again.count, again.plan_hash) == (3, first)
    with pytest.raises(Invalid):
        choose_items(access, plan.pk, choose(memory_ids=[str(remember(access, "Fresh.").pk)], ticked=False))


def test_never_again_is_remembered_for_that_rule(access: Access, stale) -> None:
    plan = create_plan(access)
    kept = stale[1]
    chosen = choose_items(access, plan.pk, choose(memory_ids=[str(kept.pk)], never_again=True))
    assert chosen.count == 2
    assert CleanupExemption.objects.filter(memory=kept).count() == 2
    assert create_plan(access).count == 2
    assert kept.content in named(access, create_plan(access, wish("never_recalled", query="long ago")))
    assert choose_items(access, plan.pk, choose(memory_ids=[str(kept.pk)], never_again=False)).count == 3
    assert create_plan(access).count == 3


def test_candidates_never_change(access: Access, stale) -> None:
    """DESIGN §8: what happens to the memories afterwards does not reach the plan."""
    plan = create_plan(access)
    columns = ("memory_id", "version", "reasons", "cluster_id")
    before = list(CleanupPlanItem.objects.order_by("pk").values_list(*columns))
    Memory.objects.filter(pk=stale[0].pk).update(version=7, importance=5)
    choose_items(access, plan.pk, choose(ticked=False))
    assert list(CleanupPlanItem.objects.order_by("pk").values_list(*columns)) == before


def test_erasing_takes_a_memory_out_of_every_plan(access: Access, stale) -> None:
    plan = create_plan(access)
    forget_plans(access, [stale[0].pk])
    after = get_plan(access, plan.pk)
    assert (after.count, after.candidates, after.plan_hash != plan.plan_hash) == (2, 2, True)
    erase_memory(access, stale[1].pk)
    assert list_plan_items(access, plan.pk).total == 1


def test_somebody_elses_review_is_not_touched_by_whoever_only_looks(access: Access, stale) -> None:
    """A viewer makes plans of its own."""
    looker = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ, KeyScope.CLEANUP_PLAN}))[1])
    with pytest.raises(MissingScope):
        choose_items(looker, create_plan(access).pk, choose(ticked=False))
    assert choose_items(looker, create_plan(looker).pk, choose(ticked=False)).count == 0


def test_a_query_does_not_outlive_what_it_found(access: Access) -> None:
    """It may quote what was erased, or name whose it was."""
    memory = remember(access, "The canary sings.", user_id="bob")
    plan = create_plan(access, CleanupWish.parse({"query": "user:bob canary"}))
    erase_memory(access, memory.pk)
    assert CleanupPlan.objects.get(pk=plan.pk).query is None


def test_a_plan_expires(access: Access, stale) -> None:
    plan = create_plan(access)
    with time_machine.travel(now() + 8 * DAY):
        assert get_plan(access, plan.pk).state == "expired"
        with pytest.raises(PlanNotReady):
            choose_items(access, plan.pk, choose(ticked=False))


def test_banks_may_have_thresholds_of_their_own(access: Access) -> None:
    """CLN-07, CFG-02."""
    from_bank = aged(access, 10, "An episode at work.", type="episodic", importance=2, bank="Work")
    aged(access, 10, "An episode elsewhere.", type="episodic", importance=2)
    write_setting(access, Level.BANK, "cleanup_episodic_age_days", 5, "Work")
    assert list(named(access, create_plan(access))) == [from_bank.content]


def test_failed_indexing_is_named(access: Access) -> None:
    """CLN-04: it is retried before anything is archived, which the plan does not do."""
    failed = remember(access, "Its vector could not be made.")
    Memory.objects.filter(pk=failed.pk).update(index_state=IndexState.FAILED)
    assert create_plan(access).by_reason == {CleanupRule.FAILED_INDEXING.value: 1}
    assert Memory.objects.get(pk=failed.pk).index_state == IndexState.FAILED


def test_who_sees_a_part_plans_a_part(access: Access, stale) -> None:
    """BNK-02: a key limited to a bank plans with what it sees and does not see the plans of others."""
    plan = create_plan(access)
    limited = access_of(make_key(access, banks=["Work"])[1])
    assert create_plan(limited).count == 0
    assert len(list_plans(limited).items) == 1
    assert len(list_plans(access).items) == 2
    with pytest.raises(NotFound):
        get_plan(limited, plan.pk)


def test_planning_needs_its_scope(access: Access, stale) -> None:
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    with pytest.raises(MissingScope):
        create_plan(reader)
    planner = access_of(make_key(access, frozenset({KeyScope.CLEANUP_PLAN}))[1])
    plan = create_plan(planner)
    with pytest.raises(MissingScope):
        choose_items(planner, plan.pk, choose(memory_ids=[str(stale[0].pk)], never_again=True))

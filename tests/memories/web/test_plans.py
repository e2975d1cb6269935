"""One clean-up plan in the browser: look, untick, keep another, apply, watch, undo."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
from django.test import Client

from banks.access import Access
from memories.models import CleanupExemption, CleanupPlan, CleanupPlanItem, Job, Memory
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import MemoryChanges
from memories.rules.settings import Level
from memories.rules.vocabulary import JobState
from memories.services import settings
from memories.services.editing import update_memory
from memories.services.plans import create_plan
from memories.services.running import run_job
from tests.factories import remember

pytestmark = pytest.mark.django_db
OLD: dict[str, Any] = {"created_at": "2025-01-01T00:00:00Z"}


@pytest.fixture
def plan(access: Access) -> CleanupPlan:
    """Two old episodes and one of no weight, among enough others to stay below the cap."""
    remember(access, "The boiler was inspected.", type="episodic", importance=2, **OLD)
    remember(access, "A parcel came.", type="episodic", importance=1, **OLD)
    remember(access, "Somebody once liked blue.", importance=1, **OLD)
    for n in range(20):
        remember(access, f"The number of house {n} is {n}.", dedup=False)
    return create_plan(access)


@pytest.fixture
def twins(access: Access) -> CleanupPlan:
    """Three that say the same."""
    remember(access, "The cello lesson is on Wednesday.", importance=5)
    for _ in range(2):
        remember(access, "The cello lesson is on wednesday!", dedup=False)
    return create_plan(access, CleanupWish.parse({"rules": ["exact_duplicate"]}))


def page_of(plan: CleanupPlan) -> str:
    return f"/cleanup/plans/{plan.pk}/"


def candidate(plan: CleanupPlan, text: str) -> str:
    rows = CleanupPlanItem.objects.filter(plan=plan).select_related("memory")
    return str(next(row.memory_id for row in rows if row.memory.content == text))


def confirm(plan: CleanupPlan, **more: str) -> dict[str, str]:
    plan.refresh_from_db()
    return {"expected_count": str(plan.count), "plan_hash": plan.plan_hash, **more}


def archived() -> set[str]:
    return {str(row.content) for row in Memory.objects.filter(archived_at__isnull=False)}


def test_candidates_are_grouped_by_rule_with_their_reason(browser: Client, plan: CleanupPlan):
    """CLN-02, CLN-03, CLN-08: a memory that two rules name is in both groups and counted once."""
    html = browser.get(page_of(plan)).content.decode()
    assert "<b>3</b><span>of 3 chosen</span>" in html
    assert html.count("A parcel came.") == 2
    assert "Old episodes · Unimportant, untouched" in html
    assert "13 % of 23 live memories" in html
    only = browser.get(page_of(plan), {"view": "low_stale"}).content.decode()
    assert "The boiler was inspected." not in only
    assert "Somebody once liked blue." in only


def test_one_is_unticked_and_a_whole_rule_left(browser: Client, plan: CleanupPlan):
    choose, next_page = f"{page_of(plan)}choose/", f"{page_of(plan)}?view=low_stale"
    answer = browser.post(choose, {"do": "untick", "id": candidate(plan, "A parcel came."), "next": next_page})
    assert answer.headers["Location"] == next_page
    html = browser.get(page_of(plan)).content.decode()
    assert "<b>2</b><span>of 3 chosen</span>" in html
    browser.post(choose, {"do": "untick", "rule": "low_stale"})
    assert "<b>1</b><span>of 3 chosen</span>" in browser.get(page_of(plan)).content.decode()
    browser.post(choose, {"do": "tick", "rule": "low_stale"})
    assert "<b>3</b><span>of 3 chosen</span>" in browser.get(page_of(plan)).content.decode()


def test_never_again_is_kept_for_later_plans(browser: Client, access: Access, plan: CleanupPlan):
    sent = {"do": "never", "id": candidate(plan, "Somebody once liked blue.")}
    html = browser.post(f"{page_of(plan)}choose/", sent, follow=True).content.decode()
    assert "Never again" in html
    assert CleanupExemption.objects.get().rule == "low_stale"
    assert create_plan(access).count == 2


def test_one_of_several_stays_with_the_words_that_differ(browser: Client, twins: CleanupPlan):
    """ux §2.6: the keeper and why, the others as a diff to it; another may be kept instead."""
    html = browser.get(page_of(twins), {"view": "alike"}).content.decode()
    assert "because it is more important" in html
    assert '<del><span class="vh"> removed: </span>Wednesday' in html
    other = CleanupPlanItem.objects.filter(plan=twins, stays=False).first()
    assert other is not None
    browser.post(f"{page_of(twins)}choose/", {"do": "keep", "id": str(other.memory_id)})
    other.refresh_from_db()
    assert other.stays
    assert "because you chose it" in browser.get(page_of(twins), {"view": "alike"}).content.decode()


def test_apply_watch_and_undo(browser: Client, plan: CleanupPlan):
    """CLN-01: a job with live progress, one changeset, undone as one."""
    page = page_of(plan)
    browser.post(f"{page}choose/", {"do": "untick", "id": candidate(plan, "A parcel came.")})
    assert browser.post(f"{page}apply/", confirm(plan)).headers["Location"] == page
    html = browser.get(page).content.decode()
    assert 'hx-trigger="every 2s"' in html
    assert "being archived" in html
    assert archived() == set()
    assert run_job(Job.objects.get(kind="apply_cleanup").pk)
    html = browser.get(page).content.decode()
    assert archived() == {"The boiler was inspected.", "Somebody once liked blue."}
    assert "<b>2</b><span>archived" in html
    assert "hx-trigger" not in html
    plan.refresh_from_db()
    undone = browser.post(f"/changesets/{plan.changeset_id}/undo/?next={page}", follow=True)
    assert undone.redirect_chain[-1][0] == page
    assert "were archived and are back" in undone.content.decode()
    assert archived() == set()


def test_what_was_edited_since_is_skipped_and_listed(browser: Client, access: Access, plan: CleanupPlan):
    update_memory(access, candidate(plan, "The boiler was inspected."), MemoryChanges(tags=["house"]))
    browser.post(f"{page_of(plan)}apply/", confirm(plan))
    run_job(Job.objects.get(kind="apply_cleanup").pk)
    html = browser.get(page_of(plan)).content.decode()
    assert "Edited since the plan was made" in html
    listed = browser.get(page_of(plan), {"view": "changed"}).content.decode()
    assert "The boiler was inspected." in listed
    assert "A parcel came." not in listed
    assert archived() == {"A parcel came.", "Somebody once liked blue."}


def test_a_stale_page_applies_nothing_and_says_what_changed(browser: Client, plan: CleanupPlan):
    """ux §2.6: the hash and the count are those of what was looked at."""
    seen = confirm(plan)
    browser.post(f"{page_of(plan)}choose/", {"do": "untick", "id": candidate(plan, "A parcel came.")})
    answer = browser.post(f"{page_of(plan)}apply/", seen, follow=True)
    assert "You confirmed 3 memories, but 2 are chosen now. Nothing was archived" in answer.content.decode()
    other = {**confirm(plan), "plan_hash": seen["plan_hash"]}
    answer = browser.post(f"{page_of(plan)}apply/", other, follow=True)
    assert "others are chosen now" in answer.content.decode()
    assert not Job.objects.filter(kind="apply_cleanup").exists()


def test_more_than_the_cap_needs_a_second_look(browser: Client, access: Access, plan: CleanupPlan):
    settings.write_setting(access, Level.VAULT, "cleanup_cap_share", 0.05)
    html = browser.get(page_of(plan)).content.decode()
    assert "More than 1 memory would go at once" in html
    refused = browser.post(f"{page_of(plan)}apply/", confirm(plan), follow=True)
    assert "need a second look" in refused.content.decode()
    assert not Job.objects.filter(kind="apply_cleanup").exists()
    browser.post(f"{page_of(plan)}apply/", confirm(plan, confirm_large="on"))
    assert Job.objects.filter(kind="apply_cleanup").exists()


def test_a_plan_that_stopped_says_why_and_goes_on(browser: Client, plan: CleanupPlan):
    browser.post(f"{page_of(plan)}apply/", confirm(plan))
    Job.objects.filter(kind="apply_cleanup").update(state=JobState.DEAD, error="The disk is full.")
    html = browser.get(page_of(plan)).content.decode()
    assert "It stopped: The disk is full." in html
    assert "Archive 3 memories" in html


def test_an_empty_plan_is_good_news(browser: Client, access: Access):
    html = browser.get(page_of(create_plan(access))).content.decode()
    assert "Nothing to clean up" in html


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("choose/", {"do": "burn"}),
        ("choose/", {"do": "untick", "id": "x"}),
        ("choose/", {"do": "untick", "rule": "burn"}),
        ("choose/", {"do": "keep"}),
        ("choose/", {"do": "never"}),
        ("apply/", {"expected_count": "9" * 5_000}),
        ("apply/", {}),
    ],
    ids=["no such button", "no id", "no rule", "keep nothing", "never anything", "huge", "nothing"],
)
def test_what_only_a_script_sends_changes_nothing(
    browser: Client, plan: CleanupPlan, address: str, sent: dict[str, str]
):
    before = confirm(plan)
    answer = browser.post(page_of(plan) + address, sent, follow=True)
    assert answer.status_code < 500
    assert confirm(plan) == before


@pytest.mark.parametrize("address", ["?view=burn", "?view=alike", "?view=low_stale&cursor=x", "?view=changed"])
def test_any_address_is_answered(browser: Client, plan: CleanupPlan, address: str):
    assert browser.get(page_of(plan) + address).status_code == 200


def test_another_vaults_plan_has_no_page(browser: Client, other_access: Access):
    plan = create_plan(other_access)
    for answer in (browser.get(page_of(plan)), browser.post(f"{page_of(plan)}choose/", {"do": "untick"})):
        assert answer.status_code == 404
        assert "no such" in unescape(answer.content.decode()).lower() or answer.status_code == 404

"""Choosing rules and making a plan; looking changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from memories.models import CleanupPlan, Memory
from memories.rules.cleanup import SEED_RULES, CleanupRule
from memories.services.plans import create_plan
from tests.factories import remember

pytestmark = pytest.mark.django_db
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"
OLD: dict[str, Any] = {"created_at": "2025-01-01T00:00:00Z"}


def test_every_rule_is_offered_with_a_sentence_and_the_seeds_four_are_ticked(browser: Client, access: Access):
    """CLN-02…05, CLN-07: with the thresholds that hold."""
    html = browser.get("/cleanup/").content.decode()
    for rule in set(CleanupRule) - {CleanupRule.QUERY}:
        ticked = " checked" if rule in SEED_RULES else ""
        assert f'name="rule" value="{rule}"{ticked} autocomplete' in html
    assert "older than 30 days, importance 2 or less" in html
    assert "No plans yet" in html


def test_a_plan_is_made_and_changes_no_memory(browser: Client, access: Access):
    """CLN-06."""
    remember(access, "An old episode.", type="episodic", importance=2, **OLD)
    before = list(Memory.objects.values_list("pk", "version", "archived_at", "updated_at"))
    answer = browser.post("/cleanup/", {"rule": ["stale_episodic", "low_stale"]})
    plan = CleanupPlan.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/cleanup/plans/{plan.pk}/")
    assert (plan.rules, plan.count) == (["stale_episodic", "low_stale"], 1)
    assert list(Memory.objects.values_list("pk", "version", "archived_at", "updated_at")) == before
    assert "1 of 1 memory" in browser.get("/cleanup/").content.decode()


def test_a_query_alone_is_a_rule(browser: Client, access: Access):
    remember(access, "Scratch.", tags=["tmp"])
    remember(access, "Kept.")
    browser.post("/cleanup/", {"query": "tag:tmp"})
    plan = CleanupPlan.objects.get()
    assert (plan.rules, plan.count) == (["query"], 1)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "Choose at least one rule"),
        ({"query": "banc:x created:yesterday-ish"}, 'role="alert"'),
        ({"rule": "burn"}, 'role="alert"'),
    ],
    ids=["nothing", "query", "rule"],
)
def test_what_cannot_be_planned_is_said_beside_the_form(
    browser: Client, access: Access, sent: dict[str, str], said: str
):
    answer = browser.post("/cleanup/", sent)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not CleanupPlan.objects.exists()


def test_a_viewer_may_look_but_not_apply(client: Client, viewer: User, access: Access):
    remember(access, "An old episode.", type="episodic", importance=1, **OLD)
    client.force_login(viewer, backend=LOGIN)
    page = client.post("/cleanup/", {"rule": "stale_episodic"}).headers["Location"]
    html = client.get(page).content.decode()
    assert "An old episode." in html
    assert "applying one needs an editor" in html
    assert client.post(f"{page}apply/", {"expected_count": "1", "plan_hash": "x"}).status_code == 403


@pytest.mark.parametrize("address", ["?cursor=x", "?cursor=" + "9" * 3_000])
def test_any_address_is_answered(browser: Client, access: Access, address: str):
    create_plan(access)
    assert browser.get(f"/cleanup/{address}").status_code == 200

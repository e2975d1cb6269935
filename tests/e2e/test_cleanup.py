"""A clean-up by hand: plan, look, untick, apply, undo; the same clicks with and without JavaScript."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from banks.access import Access
from memories.models import Job, Memory
from memories.services.running import run_job
from tests.e2e.conftest import Tab
from tests.factories import remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OLD: dict[str, Any] = {"created_at": "2025-01-01T00:00:00Z", "type": "episodic", "importance": 1}


def archived() -> set[str]:
    return {str(row.content) for row in Memory.objects.filter(archived_at__isnull=False)}


def test_plan_untick_apply_undo(tab: Tab, owner: User, access: Access):
    for text in ("The boiler was inspected.", "A parcel came."):
        remember(access, text, **OLD)
    for n in range(20):
        remember(access, f"The number of house {n} is {n}.", dedup=False)
    page = tab.sign_in(owner)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Cleanup").click()
    page.get_by_label("Unimportant, untouched").uncheck()
    page.get_by_role("button", name="Make a plan").click()
    summary = page.get_by_role("complementary", name="Summary")
    expect(summary.get_by_text("of 2 chosen")).to_be_visible()
    page.locator("li", has_text="A parcel came.").get_by_role("button", name="Archive this one").click()
    expect(summary.get_by_role("button", name="Archive 1 memory")).to_be_visible()
    summary.get_by_role("button", name="Archive 1 memory").click()
    expect(summary.get_by_text("being archived")).to_be_visible()
    assert run_job(Job.objects.get(kind="apply_cleanup").pk)
    if tab.javascript:
        # The page asks by itself until it is done, and then no more.
        expect(summary.get_by_role("button", name="Undo all")).to_be_visible()
        assert page.locator("#plan[hx-trigger]").count() == 0
    else:
        page.get_by_role("link", name="Look again").click()
    assert archived() == {"The boiler was inspected."}
    summary.get_by_role("button", name="Undo all").click()
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    expect(summary.get_by_text("were archived and are back")).to_be_visible()
    assert archived() == set()
    assert tab.complaints == []


def test_several_are_ticked_changed_and_taken_back(tab: Tab, owner: User, access: Access):
    for n in range(4):
        remember(access, f"The number of house {n} is {n}.", dedup=False)
    tab.sign_in(owner)
    page = tab.open("/memories/")
    expect(page.get_by_role("form", name="Change several at once")).to_be_hidden()
    for n in (0, 2):
        page.get_by_role("row", name=f"house {n} is").get_by_label("Tick this memory").check()
    form = page.get_by_role("form", name="Change several at once")
    expect(form.get_by_label("Tags")).to_be_hidden()
    form.get_by_label("What to do").select_option("add_tags")
    form.get_by_label("Tags").fill("street")
    form.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Tagged 2 memories.")).to_be_visible()
    assert Memory.objects.filter(tags=["street"]).count() == 2
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 2 memories.")).to_be_visible()
    assert not Memory.objects.filter(tags=["street"]).exists()
    assert tab.complaints == []

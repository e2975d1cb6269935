"""The review queue by hand: by keys alone, by mouse, and without JavaScript."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from banks.access import Access
from memories.models import DuplicatePair, Memory
from tests.e2e.conftest import Tab
from tests.factories import make_pair, remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def drafts(access: Access, *texts: str) -> None:
    """The first of them is the newest and stands first."""
    for text in reversed(texts):
        remember(access, text, status="draft")


def statuses() -> dict[str, str]:
    return {str(row.content): row.status for row in Memory.objects.all()}


def test_drafts_and_pairs_are_decided_and_taken_back(tab: Tab, owner: User, access: Access):
    drafts(access, "Good.", "Junk.")
    older, newer = (remember(access, text, dedup=False) for text in ("Alice is 30.", "Alice is 31."))
    pair = make_pair(older, newer, differences=["number"])
    page = tab.sign_in(owner)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Review").click()
    page.locator("article", has_text="Junk.").get_by_role("button", name="Reject").click()
    expect(page.get_by_text("1 / 3 reviewed since you signed in")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("0 / 3 reviewed since you signed in")).to_be_visible()
    page.locator("article", has_text="Good.").get_by_role("button", name="Approve").first.click()
    expect(page.get_by_text("1 / 3 reviewed since you signed in")).to_be_visible()
    page.get_by_role("link", name="Duplicates").click()
    page.locator("summary", has_text="Merge").click()
    page.get_by_label("The text that says both").fill("Alice turned 31.")
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("No pairs wait")).to_be_visible()
    pair.refresh_from_db()
    assert pair.state == "merged"
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Alice is 30.")).to_be_visible()
    assert tab.complaints == []


def test_a_queue_is_emptied_from_the_keyboard(open_tab: Callable[..., Tab], owner: User, access: Access):
    drafts(access, "One.", "Two.", "Likes tee.", "Four.")
    make_pair(*(remember(access, text, dedup=False) for text in ("Alice is 30.", "Alice is 31.")))
    tab = open_tab()
    page = tab.sign_in(owner)
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/review/")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.locator("[data-row].here")).to_contain_text("Two.")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("r")
    expect(page.locator("[data-row].here")).to_contain_text("Likes tee.")
    page.keyboard.press("e")
    expect(page.locator("[data-row].here textarea")).to_be_focused()
    page.locator("[data-row].here textarea").fill("Likes tea.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("[data-row].here")).to_contain_text("Four.")
    assert statuses()["Likes tea."] == "accepted"
    page.goto(f"{tab.root}/review/duplicates/")
    page.keyboard.press("j")
    page.keyboard.press("d")
    expect(page.get_by_text("No pairs wait")).to_be_visible()
    assert DuplicatePair.objects.get().state == "not_duplicate"
    assert (statuses()["One."], statuses()["Two."], statuses()["Four."]) == ("accepted", "discard", "draft")
    assert tab.complaints == []


@pytest.mark.parametrize("javascript", [True, False])
def test_a_correction_is_never_thrown_away(open_tab: Callable[..., Tab], owner: User, access: Access, javascript: bool):
    """While a text is being corrected, nothing approves it as it was: no button and no key."""
    drafts(access, "Likes tee.")
    tab = open_tab(java_script_enabled=javascript)
    page = tab.sign_in(owner)
    page.goto(f"{tab.root}/review/")
    card = page.locator("article", has_text="Likes tee.")
    as_it_is = card.get_by_role("button", name="Approve", exact=True)
    expect(as_it_is).to_be_visible()
    card.locator("summary", has_text="Edit, then approve").click()
    expect(as_it_is).to_be_hidden()
    card.get_by_label("Text").fill("Likes tea.")
    if javascript:
        page.keyboard.press("Tab")
        page.keyboard.press("a")
        assert statuses() == {"Likes tee.": "draft"}
    card.get_by_role("button", name="Save and approve").click()
    expect(page.get_by_text("No drafts wait")).to_be_visible()
    assert statuses() == {"Likes tea.": "accepted"}
    assert tab.complaints == []

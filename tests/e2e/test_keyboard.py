"""Hands on the keys: the palette, the keys of each page, and a focus that is never lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from banks.access import Access
from memories.models import Memory
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupwishes import CleanupWish
from memories.services.plans import create_plan
from tests.e2e.conftest import Tab
from tests.factories import make_key, remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(open_tab: Callable[..., Tab], owner: User, access: Access) -> Page:
    """Signed in, in a vault with three memories."""
    for text in ("The bicycle is blue.", "The cello lesson is on Wednesday.", "Never deploy on Fridays."):
        remember(access, text)
    return open_tab().sign_in(owner)


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.matches('body') ? '' : document.activeElement.textContent.trim()"))


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator("#command .entry").first).to_be_visible()


def test_the_palette_goes_anywhere(page: Page):
    open_palette(page)
    expect(page.locator("#palette-q")).to_be_focused()
    page.keyboard.type("recall")
    expect(page.locator(".entry[aria-selected=true]")).to_contain_text("Recall lab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/recall/")


def test_arrows_choose_and_memories_are_found(page: Page):
    open_palette(page)
    page.keyboard.type("cello")
    entry = page.locator(".entry[aria-selected=true]")
    expect(entry).to_contain_text("The cello lesson is on Wednesday.")
    expect(page.locator("#palette-q")).to_have_attribute("aria-activedescendant", "entry-0")
    page.keyboard.press("ArrowDown")
    expect(entry).to_contain_text("Search memories for")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator(".statement")).to_have_text("The cello lesson is on Wednesday.")


def test_the_focus_goes_back_to_what_opened_the_palette(page: Page):
    opener = page.locator("#command-open")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#palette-q")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#command")).to_be_hidden()
    expect(opener).to_be_focused()
    open_palette(page)
    page.keyboard.press("Control+k")
    expect(opener).to_be_focused()


def test_the_palette_does_what_the_page_can_do(page: Page):
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/memories/")
    page.keyboard.press("j")
    open_palette(page)
    page.keyboard.type("arch")
    expect(page.locator(".entry[aria-selected=true]")).to_contain_text("Archive")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Never deploy on Fridays.")).to_have_count(0)
    assert Memory.objects.filter(archived_at__isnull=False).count() == 1


def test_a_choice_of_the_palette_stays_on_the_page(page: Page, live_server: object):
    page.goto(page.url + "memories/?sort=created_at")
    open_palette(page)
    page.keyboard.type("compact")
    expect(page.locator(".entry[aria-selected=true]")).to_contain_text("Density: compact")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    assert page.url.endswith("/memories/?sort=created_at")


def test_the_palette_is_a_page_too(tab: Tab, owner: User, access: Access):
    """With and without JavaScript: links and buttons one can click."""
    remember(access, "The cello lesson is on Wednesday.")
    tab.sign_in(owner)
    page = tab.open("/palette/")
    page.fill("#palette-q", "cello")
    page.locator("#palette-q").press("Enter") if not tab.javascript else None
    page.locator(".entry", has_text="The cello lesson").click()
    expect(page.locator(".statement")).to_have_text("The cello lesson is on Wednesday.")
    page = tab.open("/palette/?q=dark")
    page.locator("button.entry", has_text="Theme: dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert tab.complaints == []


def test_question_mark_lists_the_keys_of_this_page_and_no_others(page: Page):
    page.goto(page.url + "memories/")
    page.keyboard.press("?")
    here = page.locator("#keys-here")
    for label in ("Next and previous line", "Tick", "Peek", "Archive", "New memory", "Search all memories"):
        expect(here).to_contain_text(label)
    expect(here).not_to_contain_text("Approve")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.activeElement.closest('dialog')")
    page.goto(page.url + "?q=nothing+like+this")
    page.keyboard.press("?")
    expect(here).not_to_contain_text("Archive")


def test_single_keys_can_be_off_and_the_palette_stays(page: Page):
    """WCAG 2.1.4."""
    page.locator("summary", has_text="Account and theme").click()
    page.get_by_role("button", name="Turn off single-key shortcuts").click()
    page.wait_for_load_state("load")
    page.keyboard.press("?")
    page.keyboard.press("/")
    expect(page.locator("#shortcuts")).to_be_hidden()
    expect(page.locator("#global-search")).not_to_be_focused()
    open_palette(page)


def test_rows_are_ticked_and_unticked_by_keys(page: Page):
    page.goto(page.url + "memories/")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+X")
    expect(page.locator("[data-row] .tick input:checked")).to_have_count(3)
    page.keyboard.press("Escape")
    expect(page.locator("[data-row] .tick input:checked")).to_have_count(0)


def test_after_a_row_is_gone_the_focus_is_on_the_same_control_of_the_next(page: Page):
    page.goto(page.url + "memories/")
    button = page.locator("[data-row]").nth(1).get_by_role("button", name="Archive")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(2)
    expect(page.locator("[data-row]").nth(1).get_by_role("button", name="Archive")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]").nth(0).get_by_role("button", name="Archive")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(0)
    page.wait_for_function("document.activeElement !== document.body")
    assert focused(page), "the heading of the part, when there is no row any more"
    expect(page.locator("#news")).to_contain_text("Archived")
    expect(page.locator("#live")).to_have_text("0 memories")


def test_the_focus_stays_with_the_key_that_moved_it(page: Page):
    page.goto(page.url + "memories/")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.locator("[data-row]")).to_have_count(2)
    expect(page.locator("[data-row].here")).to_contain_text("cello")
    page.wait_for_function("document.activeElement.closest('[data-row].here')")
    page.keyboard.press("u")
    expect(page.locator("[data-row]")).to_have_count(3)


def test_a_button_that_turned_into_its_opposite_keeps_the_focus(page: Page):
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Memories").click()
    page.get_by_role("link", name="The bicycle is blue.").click()
    page.get_by_role("button", name="Archive").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Restore")).to_be_focused()


def test_a_candidate_that_was_unticked_keeps_the_focus(page: Page, access: Access):
    plan = create_plan(access, CleanupWish.parse({"rules": list(CleanupRule), "query": "bicycle"}))
    page.goto(f"{page.url}cleanup/plans/{plan.pk}/")
    ticker = page.locator(".ticker").first
    ticker.focus()
    page.keyboard.press("Enter")
    expect(ticker).to_have_attribute("aria-pressed", "false")
    expect(ticker).to_be_focused()


def test_after_saving_the_focus_is_on_what_was_saved(page: Page):
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Memories").click()
    page.get_by_role("link", name="The bicycle is blue.").click()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Memory", exact=True).fill("The bicycle is green.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Content")).to_be_focused()


def test_arriving_with_news_they_are_read_out(page: Page, access: Access):
    make_key(access, name="old laptop")
    page.goto(page.url + "banks/")
    page.evaluate("location.hash = 'new'")
    page.get_by_label("Name").fill("Garden")
    page.get_by_role("button", name="Create bank").click()
    expect(page.locator("#news .toast")).to_be_visible()
    assert page.locator("[aria-live], [role=status], [role=alert]").count() == 1

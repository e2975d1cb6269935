"""One memory all the way through the browser: find it, edit it, archive it, take that back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from banks.access import Access, system_access
from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from memoryhub.lib.sealing import gate
from tests.e2e.conftest import Tab
from tests.factories import remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_find_edit_archive_undo(tab: Tab, owner: User, access: Access):
    """The same clicks with and without JavaScript."""
    remember(access, "The cello lesson is on Wednesday.", bank="Interests")
    remember(access, "The bicycle is blue.")
    page = tab.sign_in(owner)
    page.fill("#global-search", "cello")
    page.press("#global-search", "Enter")
    expect(page.get_by_text("The bicycle is blue.")).to_have_count(0)
    page.get_by_role("link", name="The cello lesson is on Wednesday.").click()

    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Memory", exact=True).fill("The cello lesson is on Thursday.")
    page.get_by_label("Why").fill("Herr Okafor moved it")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".statement")).to_have_text("The cello lesson is on Thursday.")
    expect(page.locator("ins")).to_contain_text("Thursday")
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()

    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archived: agents do not recall it.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    assert not Memory.objects.get(external_write_id=None, version=4).archived
    assert tab.complaints == []


def test_filters_are_links_and_the_address_is_the_state(tab: Tab, owner: User, access: Access):
    remember(access, "Never deploy on Fridays.", bank="Work", type="constraint")
    remember(access, "Likes the river.", bank="Personal", type="preference")
    tab.sign_in(owner)
    page = tab.open("/memories/")
    page.get_by_role("navigation", name="Banks").get_by_role("link", name="Work").click()
    expect(page.get_by_text("Likes the river.")).to_have_count(0)
    page.get_by_role("link", name="Constraint 1").click()
    page.wait_for_url("**/memories/?bank=work&type=constraint")
    expect(page.get_by_text("Never deploy on Fridays.")).to_be_visible()
    page.go_back()
    page.wait_for_url("**/memories/?bank=work")
    expect(page.locator(".chip", has_text="Constraint")).to_have_count(0)
    page.get_by_role("navigation", name="Banks").get_by_role("link", name="All").click()
    expect(page.get_by_text("Likes the river.")).to_be_visible()
    assert tab.complaints == []


def test_two_people_at_one_memory(tab: Tab, owner: User, access: Access):
    memory = remember(access, "The meeting is on Monday.")
    tab.sign_in(owner)
    page = tab.open(f"/memories/{memory.pk}/edit/")
    page.get_by_label("Memory", exact=True).fill("The meeting is on Tuesday.")
    with gate.session():
        update_memory(system_access(access.vault_id), memory.pk, MemoryChanges(content="The meeting is on Friday."))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Somebody changed this memory")).to_be_visible()
    expect(page.get_by_label("Memory", exact=True)).to_have_value("The meeting is on Tuesday.")
    expect(page.locator(".versus")).to_contain_text("Friday")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.locator(".statement")).to_have_text("The meeting is on Tuesday.")


def test_a_key_can_be_made_and_copied_by_hand(tab: Tab, owner: User, vault: object):
    tab.sign_in(owner)
    page = tab.open("/keys/")
    page.get_by_role("link", name="New key").click()
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#secret")).to_contain_text("mh_live_")
    assert tab.complaints == []


def test_htmx_stays_on_the_page(open_tab: Callable[..., Tab], owner: User, access: Access):
    """With JavaScript a filter, an edit and an archive swap a part; without a reload, and Back still works."""
    memory = remember(access, "Stay on the page.", bank="Work")
    remember(access, "Somewhere else.", bank="Health")
    tab = open_tab()
    tab.sign_in(owner)
    page = tab.open("/memories/")
    page.evaluate("window.sameDocument = true")
    page.get_by_role("navigation", name="Banks").get_by_role("link", name="Work").click()
    expect(page.get_by_text("Somewhere else.")).to_have_count(0)
    page.get_by_role("row", name="Stay on the page.").get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    assert page.evaluate("window.sameDocument") is True

    tab.open(f"/memories/{memory.pk}/")
    page.evaluate("window.sameDocument = true")
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("Restored.")).to_be_visible()
    assert page.evaluate("window.sameDocument") is True
    assert tab.complaints == []


def test_keys_reach_everything(open_tab: Callable[..., Tab], owner: User, access: Access):
    remember(access, "First to be written.")
    remember(access, "Second to be written.")
    tab = open_tab()
    page = tab.sign_in(owner)
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/memories/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".statement")).to_have_text("First to be written.")
    page.wait_for_load_state("load")
    page.keyboard.press("e")
    expect(page.get_by_label("Memory", exact=True)).to_be_focused()
    page.keyboard.type("e")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).to_be_hidden()
    # The browser gives the focus back a moment after the dialog is gone; keys inside a dialog are its own.
    page.wait_for_function("!document.activeElement.closest('dialog')")
    page.keyboard.press("/")
    expect(page.locator("#global-search")).to_be_focused()
    assert tab.complaints == []

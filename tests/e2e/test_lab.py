"""The recall lab in a real browser: type, pause, look into an answer, compare; and all of it without JavaScript."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from banks.access import Access
from tests.e2e.conftest import Tab
from tests.factories import remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def remembered(access: Access) -> None:
    remember(access, "The bicycle has a flat tyre.", bank="Personal")
    remember(access, "The bicycle shop opens at nine.", bank="Personal")
    remember(access, "Never deploy on Fridays.", bank="Work", type="constraint")


def test_ask_look_and_compare(tab: Tab, owner: User, remembered: None):
    """The same clicks with and without JavaScript."""
    page = tab.sign_in(owner)
    page.get_by_role("link", name="Recall lab").click()
    page.get_by_label("Question, and conditions").fill("who repairs a bicycle?")
    page.get_by_role("button", name="Recall", exact=True).click()
    expect(page.get_by_text("Hybrid (")).to_be_visible()
    expect(page.locator(".hits > li")).to_have_count(2)
    page.wait_for_load_state("networkidle")  # a pass that was under way when the button was pressed draws the list anew
    page.locator("details.why > summary").first.click()
    expect(page.get_by_role("rowheader", name="Words (BM25)").first).to_be_visible()

    page.get_by_text("Compare with other parameters").click()
    page.locator("[name='other.top_k']").fill("1")
    page.get_by_role("button", name="Recall", exact=True).click()
    expect(page.get_by_role("heading", name="Second")).to_be_visible()
    expect(page.locator(".pill")).to_have_text(["same place"])
    page.get_by_role("link", name="Reset parameters").click()
    expect(page.get_by_role("heading", name="Second")).to_have_count(0)
    expect(page.locator(".hits > li")).to_have_count(2)
    assert tab.complaints == []


def test_typing_never_loses_the_focus(open_tab: Callable[..., Tab], owner: User, remembered: None):
    """Words at once, meaning after a pause, Enter at any time; the address follows and Back leads to what was asked."""
    tab = open_tab()
    tab.sign_in(owner)
    page = tab.open("/recall/")
    field = page.get_by_label("Question, and conditions")
    expect(field).to_be_focused()
    with page.expect_response(lambda answer: "pass=typing" in answer.url) as typed:
        field.press_sequentially("bicycle", delay=20)
    assert "Keyword (2)" in typed.value.text()
    expect(page.get_by_text("Hybrid (2")).to_be_visible()
    expect(page.locator("#live")).to_have_text("2 memories")
    page.wait_for_url("**/recall/?q=bicycle")
    expect(field).to_be_focused()

    field.press("Enter")
    field.press_sequentially(" shop bank:work")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    expect(field).to_have_value("bicycle shop bank:work")
    expect(field).to_be_focused()
    field.press("Enter")
    page.wait_for_url("**/recall/?q=bicycle+shop+bank%3Awork")
    assert tab.complaints == []


def test_a_parameter_answers_at_once(open_tab: Callable[..., Tab], owner: User, remembered: None):
    tab = open_tab()
    tab.sign_in(owner)
    page = tab.open("/recall/?q=bicycle")
    expect(page.locator(".hits > li")).to_have_count(2)
    page.get_by_text("Parameters", exact=True).click()
    page.get_by_label("Work").check()
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.wait_for_url("**/recall/?q=bicycle&bank=work")
    assert tab.complaints == []

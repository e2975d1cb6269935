"""The first page in a browser: pictures that can be pointed at and read, with and without JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from banks.access import Access
from memories.management.demo.numbers import tell_numbers
from memories.services.rollups import roll_up
from memoryhub.lib.clock import now
from tests.e2e.conftest import Tab
from tests.factories import remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AXE = (Path(__file__).parent / "vendor/axe/axe.min.js").read_text()

VISIBILITY = "one => getComputedStyle(one).visibility"
OPEN_ALL = "() => document.querySelectorAll('.twin').forEach(one => { one.open = true })"


@pytest.fixture
def told(access: Access) -> None:
    """A vault with ninety days behind it."""
    for number in range(5):
        remember(access, f"Guest number {number} came by.", bank="Events")
    tell_numbers(access, now())
    roll_up()


def test_a_plot_is_pointed_at_reached_by_keyboard_and_read_as_a_table(tab: Tab, owner: User, told: None):
    """UI: the readout needs no JavaScript, the table has every number, a period is a link."""
    page = tab.sign_in(owner)
    plot = page.locator("#latency")
    plot.scroll_into_view_if_needed()
    expect(plot.locator(".chart title").first).to_have_text("Recall latency")
    point = plot.locator(".step[tabindex]").first
    tip = point.locator(".tip")
    assert tip.evaluate(VISIBILITY) == "hidden"
    point.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert tip.evaluate(VISIBILITY) == "visible"
    assert "p50" in (point.get_attribute("aria-label") or "")
    plot.locator(".step").nth(10).locator(".hit").hover()
    assert (
        plot.locator(".step").nth(10).locator(".tip").evaluate("one => getComputedStyle(one).visibility") == "visible"
    )
    plot.locator("summary").click()
    expect(plot.locator("tbody tr")).to_have_count(30)
    page.get_by_role("link", name="7 days").click()
    expect(page.locator("#latency tbody tr")).to_have_count(28)
    page.get_by_role("link", name="Mentioned").click()
    assert "period=7d" in page.url
    assert "clock=mentioned" in page.url
    assert tab.complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_nobody_is_left_out(
    open_tab: Callable[..., Tab], owner: User, access: Access, told: None, width: int, scheme: str
):
    """UI: no violation, nothing wider than the window, whatever the period."""
    tab = open_tab(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = tab.sign_in(owner)
    for address in ("/?period=90d&clock=created&stage=semantic", "/?period=24h&clock=recalled", "/banks/", "/jobs/"):
        tab.open(address)
        page.evaluate(OPEN_ALL)
        page.evaluate(AXE)
        found = page.evaluate("axe.run().then(all => all.violations.map(v => v.id + ': ' + v.nodes[0].html))")
        assert found == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    assert tab.complaints == []


def test_what_is_new_is_offered_and_shown_on_demand(open_tab: Callable[..., Tab], owner: User, access: Access):
    """The list never moves by itself."""
    remember(access, "The first.")
    tab = open_tab()
    page = tab.sign_in(owner)
    remember(replace(access, request_id="another"), "The second.")
    page.locator("#fresh").evaluate(
        "one => htmx.ajax('GET', one.getAttribute('hx-get'), {target: one, swap: 'outerHTML'})"
    )
    offer = page.get_by_text("1 new: show")
    expect(offer).to_be_visible()
    expect(page.locator("#recent")).not_to_contain_text("The second.")
    offer.click()
    expect(page.locator("#recent")).to_contain_text("The second.")
    expect(offer).to_have_count(0)
    assert tab.complaints == []

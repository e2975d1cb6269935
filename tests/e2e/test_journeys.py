"""From the log-in to an undone clean-up without touching the mouse, with JavaScript and without; and nothing jumps."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Error, Page, expect

from banks.access import Access
from memories.models import Job, Memory
from memories.services.running import run_job
from tests.conftest import PASSWORD
from tests.e2e.auditing import Opener
from tests.e2e.conftest import Tab
from tests.factories import remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OLD: dict[str, Any] = {"created_at": "2025-01-01T00:00:00Z", "type": "episodic", "importance": 1}
MOST_TABS = 200
#: What a screen reader would call the element that has the focus, near enough; a page that is only coming has none yet.
NAME = """() => {
    const here = document.activeElement;
    if (!here) return '';
    const label = here.labels && here.labels[0];
    return (here.getAttribute('aria-label') || (label && label.innerText) || here.innerText || here.value || '').trim();
}"""
#: The sum of all shifts, also of those a click was to blame for.
SHIFTS = """
window.shifted = 0;
new PerformanceObserver(list => { for (const entry of list.getEntries()) window.shifted += entry.value })
    .observe({type: 'layout-shift', buffered: true});
"""


def reach(page: Page, name: str) -> None:
    """Press Tab until what is called so has the focus; it must be in sight then."""
    seen = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        seen.append(_name(page))
        if seen[-1] == name:
            return
    raise AssertionError(f"{name} is not reached by Tab, only {list(dict.fromkeys(seen))}")


def _name(page: Page) -> str:
    """What has the focus; a page that was just leaving is waited for."""
    try:
        return str(page.evaluate(NAME)).split("\n")[0]
    except Error:
        page.wait_for_load_state("load")
        return str(page.evaluate(NAME)).split("\n")[0]


def press(page: Page, name: str) -> None:
    reach(page, name)
    page.keyboard.press("Enter")


def written(page: Page, text: str) -> None:
    """In place of what the field that has the focus says."""
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def test_a_day_without_a_mouse(tab: Tab, owner: User, access: Access):
    """Log in, find, edit, archive, undo, plan a clean-up, look through it, untick, apply, undo: Tab and Enter alone."""
    remember(access, "The cello lesson is on Wednesday.", bank="Interests")
    for text in ("The boiler was inspected.", "A parcel came."):
        remember(access, text, **OLD)
    for n in range(20):
        remember(access, f"The number of house {n} is {n}.", dedup=False)
    page = tab.open("/")
    sign_in(page, owner)
    find_and_edit(page)
    expect(page.locator(".statement")).to_have_text("The cello lesson is on Thursday.")
    press(page, "Archive")
    expect(page.get_by_text("Archived: agents do not recall it.")).to_be_visible()
    press(page, "Undo")
    expect(page.get_by_role("button", name="Archive", exact=True)).to_be_visible()
    clean_up(page)
    expect(page.get_by_text("being archived")).to_be_visible()
    assert run_job(Job.objects.get(kind="apply_cleanup").pk)
    if not tab.javascript:
        press(page, "Look again")
    expect(page.get_by_role("button", name="Undo all")).to_be_visible()
    assert archived() == {"The boiler was inspected."}
    press(page, "Undo all")
    expect(page.get_by_text("Taken back: 1 memory.")).to_be_visible()
    assert archived() == set()
    assert tab.complaints == []


def sign_in(page: Page, person: User) -> None:
    field = page.locator("[name=login]")
    if not field.evaluate("field => field === document.activeElement"):
        reach(page, "Username")
    written(page, person.get_username())
    reach(page, "Password")
    written(page, PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")


def find_and_edit(page: Page) -> None:
    reach(page, "Search all memories")
    written(page, "cello")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The number of house 1 is 1.")).to_have_count(0)
    press(page, "The cello lesson is on Wednesday.")
    expect(page.locator(".statement")).to_be_visible()
    press(page, "Edit")
    content = page.get_by_label("Memory", exact=True)
    expect(content).to_be_visible()
    if not content.evaluate("field => field === document.activeElement"):
        reach(page, "Memory")
    written(page, "The cello lesson is on Thursday.")
    press(page, "Save")


def clean_up(page: Page) -> None:
    press(page, "Cleanup")
    expect(page.get_by_role("heading", level=1)).to_have_text("Cleanup")
    press(page, "Make a plan")
    expect(page.get_by_text("of 2 chosen")).to_be_visible()
    page.keyboard.press("Home")
    unticked(page, "A parcel came.")
    expect(page.get_by_role("button", name="Archive 1 memory")).to_be_visible()
    press(page, "Archive 1 memory")


def unticked(page: Page, text: str) -> None:
    """Leave out the candidate that says so."""
    for _ in range(MOST_TABS):
        reach(page, "Archive this one")
        if text in str(page.evaluate("document.activeElement.closest('li').innerText")):
            page.keyboard.press("Enter")
            return
    raise AssertionError(text)


def archived() -> set[str]:
    return {str(row.content) for row in Memory.objects.filter(archived_at__isnull=False)}


def test_nothing_jumps_when_a_part_is_swapped(open_tab: Opener, owner: User, access: Access):
    """UI: a filter and an archive move nothing that stays."""
    for n in range(30):
        remember(access, f"The number of house {n} is {n}.", dedup=False, bank="Work" if n % 2 else "Personal")
    tab = open_tab(viewport={"width": 1280, "height": 800})
    tab.sign_in(owner)
    page = tab.open("/memories/")
    page.evaluate(SHIFTS)
    page.wait_for_timeout(300)
    page.evaluate("window.shifted = 0")
    page.get_by_role("navigation", name="Banks").get_by_role("link", name="Work").click()
    expect(page.get_by_text("The number of house 2 is 2.")).to_have_count(0)
    page.wait_for_timeout(200)
    filtering = page.evaluate("window.shifted")
    page.get_by_role("row", name="house 3 is 3").get_by_role("button", name="Archive").click()
    expect(page.get_by_text("The number of house 3 is 3.")).to_have_count(0)
    page.wait_for_timeout(200)
    assert (filtering, page.evaluate("window.shifted") - filtering) == (0, 0)

"""The list by hand: left out, edited in its line, changed as a whole after a second question, and saved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from banks.access import Access
from memories.models import Memory
from tests.e2e.conftest import Tab
from tests.factories import remember

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_list_is_narrowed_edited_and_changed_as_a_whole(tab: Tab, owner: User, access: Access):
    for number in range(27):
        remember(access, f"Note {number}.", bank="Work", type="task")
    remember(access, "The river is calm.", bank="Work")
    tab.sign_in(owner)
    page = tab.open("/memories/?bank=work&type=fact")
    page.get_by_role("link", name="Edit").first.click()
    page.get_by_label("Memory", exact=True).fill("The river is high.")
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()
    page = tab.open("/memories/?bank=work")
    page.get_by_role("link", name="Leave out Fact").click()
    expect(page.get_by_text("The river is high.")).to_have_count(0)
    page.locator("[name=id]").first.check()
    page.get_by_label("Select all 27 matching").check()
    page.locator("#bulk").get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="Archive, 27 memories?")).to_be_visible()
    page.get_by_role("button", name="Archive 27").click()
    expect(page.get_by_text("Archived 27 memories.")).to_be_visible()
    assert Memory.objects.live().count() == 1
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: 27 memories.")).to_be_visible()
    page.locator("summary", has_text="Save view").click()
    page.get_by_label("Name", exact=True).fill("To do")
    page.locator(".save-view").get_by_role("button", name="Save").click()
    expect(page.get_by_role("navigation", name="Saved views")).to_contain_text("To do")
    assert tab.complaints == []


#: Where everything stands that should not move: the heads of the columns, each line above and the first of this one.
STANDS = """(here) => {
    const rows = [...document.querySelectorAll('#browse tbody tr')];
    const boxes = [...document.querySelectorAll('#browse thead th, .toolbar, .facets h2'), ...rows.slice(0, here)];
    const placed = boxes.map(one => one.getBoundingClientRect()).map(({x, y, width, height}) => [x, y, width, height]);
    const cells = rows.filter((_, at) => at !== here).map(row => row.querySelector('.what').getBoundingClientRect());
    return [placed, rows[here].getBoundingClientRect().y, cells.map(({x, width}) => [x, width]), scrollY];
}"""


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_moves_when_a_line_is_looked_into_or_edited(
    open_tab: Callable[..., Tab], owner: User, access: Access, width: int
):
    """UX: what stands above a line that opens stays where it is, and so do the columns."""
    for number in range(6):
        remember(access, f"Memory number {number} has a text of some length, as most of them do have.", dedup=False)
    tab = open_tab(viewport={"width": width, "height": 1500})
    tab.sign_in(owner)
    page, line = tab.open("/memories/"), 3
    row = page.locator("#browse tbody tr").nth(line)
    stood = page.evaluate(STANDS, line)
    row.locator("summary").click()
    expect(row.locator(".peeked dl")).to_be_visible()
    assert page.evaluate(STANDS, line) == stood
    row.locator("summary").click()
    row.locator('[data-key="e"]').click()
    expect(row.locator("textarea").first).to_be_focused()
    assert page.evaluate(STANDS, line) == stood
    row.get_by_text("Cancel").click()
    expect(row.locator("summary")).to_be_visible()
    assert page.evaluate(STANDS, line) == stood
    page.locator("details.menu summary").last.click()
    assert page.evaluate(STANDS, line) == stood
    assert tab.complaints == []


def test_where_lines_are_cards_one_tick_is_for_all_of_them(open_tab: Callable[..., Tab], owner: User, access: Access):
    """UX: the table's head is gone there, and what was in it to be used is not."""
    for number in range(3):
        remember(access, f"Memory number {number} is about {number * 7} things.", dedup=False)
    tab = open_tab(viewport={"width": 800, "height": 900})
    tab.sign_in(owner)
    page = tab.open("/memories/")
    page.get_by_label("Tick all on this page").check()
    expect(page.locator("[data-row] .tick input:checked")).to_have_count(3)
    assert page.locator("thead a:visible").count() == 0, "nothing of the head takes the focus unseen"

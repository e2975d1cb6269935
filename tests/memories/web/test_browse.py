"""The list of memories: what it shows, what its links lead to, and what it costs."""

from __future__ import annotations

import gzip
import re
from html import unescape
from urllib.parse import quote_plus

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memories.models import Memory
from memories.rules.vocabulary import Status
from memories.search import listing
from memories.services.lifecycle import archive_memory
from tests.factories import remember

pytestmark = pytest.mark.django_db
LIST = "/memories/"
MOST_QUERIES = 15


def page(client: Client, address: str = LIST, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def links(html: str) -> dict[str, str]:
    """Text of each link, without its count → address."""
    found = re.findall(r'<a [^>]*href="([^"]+)"[^>]*>(.*?)</a>', html, re.DOTALL)
    return {
        " ".join(re.sub(r"<[^>]+>|\d+ *$", " ", text).split()).rstrip("0123456789 "): unescape(href)
        for href, text in found
    }


def count_at(html: str, label: str) -> int:
    match = re.search(rf">{re.escape(label)}</span><span class=\"count\">(\d+)<", html)
    assert match, label
    return int(match.group(1))


def test_a_page_names_what_it_shows(browser: Client, access: Access):
    """UI-01, UI-02: bank tabs, and the bank on each row."""
    remember(access, "Oat milk in the coffee, please.", bank="Personal", type="preference")
    html = page(browser)
    assert "Oat milk in the coffee, please." in html
    assert "1 memory" in html
    assert "Personal" in links(html)
    assert 'class="badge"' in html


def test_each_filter_is_a_link_that_narrows(browser: Client, access: Access):
    remember(access, "Never deploys on Fridays.", bank="Work", type="constraint")
    remember(access, "Likes walking by the river.", bank="Personal", type="preference")
    html = page(browser)
    only_work = page(browser, links(html)["Work"])
    assert "Never deploys" in only_work
    assert "by the river" not in only_work
    only_preferences = page(browser, links(html)["Preference"])
    assert "by the river" in only_preferences
    assert "Never deploys" not in only_preferences


def test_counts_leave_out_their_own_filter(browser: Client, access: Access):
    remember(access, "A fact of work.", bank="Work", type="fact")
    remember(access, "A second fact of work.", bank="Work", type="fact")
    remember(access, "A task of work.", bank="Work", type="task")
    remember(access, "A task at home.", bank="Personal", type="task")
    html = page(browser, f"{LIST}?bank=work&type=task")
    assert count_at(html, "Task") == 1
    assert count_at(html, "Fact") == 2, "other types stay choosable, within the bank"
    assert re.search(r'Personal <span class="count">1<', html), "other banks stay choosable, within the type"


def test_chips_take_one_filter_away_or_all(browser: Client, access: Access):
    remember(access, "A task of work.", bank="Work", type="task")
    html = page(browser, f"{LIST}?bank=work&type=task&q=task")
    chips = re.search(r'class="strip chips".*?</div>', html, re.DOTALL)
    assert chips
    leads = links(chips.group())
    assert leads["Task : remove this filter"] == f"{LIST}?bank=work&q=task"
    assert leads["Clear all"] == LIST


def test_words_are_searched_in_the_text(browser: Client, access: Access):
    remember(access, "The cello lesson is on Wednesday.")
    remember(access, "The bicycle is blue.")
    html = page(browser, f"{LIST}?q=cello")
    assert "cello lesson" in html
    assert "bicycle" not in html


def test_states_are_links_too(browser: Client, access: Access):
    """STA-03, STA-06: drafts wait behind one link, archived ones behind another."""
    draft = remember(access, "Perhaps she moved to Kiel.", status="draft")
    gone = remember(access, "The old phone number ends in 12.")
    archive_memory(access, gone.pk)
    html = page(browser)
    assert "Nothing matches" in html
    drafts = page(browser, links(html)["Drafts"])
    assert str(draft.pk) in drafts
    assert str(gone.pk) not in drafts
    archived = page(browser, links(html)["Archived"])
    assert str(gone.pk) in archived
    assert "Restore" in archived
    everything = page(browser, links(html)["Everything"])
    assert str(draft.pk) in everything
    assert str(gone.pk) in everything


def test_dates_narrow_by_age_and_between_two_days(browser: Client, access: Access):
    remember(access, "Written long ago.", created_at="2024-03-01T10:00:00Z")
    remember(access, "Written just now.")
    assert "Written long ago." not in page(browser, f"{LIST}?age=7d")
    assert "Written just now." not in page(browser, f"{LIST}?age=older")
    between = page(browser, f"{LIST}?created_after=2024-02-01&created_before=2024-04-01")
    assert "Written long ago." in between
    assert "Written just now." not in between


def test_pages_lead_forth_and_back_without_losing_anything(browser: Client, access: Access):
    written = {str(remember(access, f"Sentence number {number} about gardens.").pk) for number in range(60)}
    seen: list[str] = []
    address = f"{LIST}?limit=25&q=gardens"
    while address:
        html = page(browser, address)
        seen += re.findall(r'<td class="what">\s*<a href="/memories/([^/]+)/[?"]', html)
        last, address = address, links(html).get("Next", "")
    assert sorted(seen) == sorted(written)
    html = page(browser, links(page(browser, last))["Previous"])
    assert seen[25] in html


def test_an_address_nobody_can_mean_is_answered(browser: Client, access: Access):
    remember(access, "Here I am.")
    html = page(browser, f"{LIST}?bank=nowhere&type=banana&created_after=yesterday&limit=7&sort=x&cursor=broken&x=1")
    assert "Not understood and left out" in html
    assert "Here I am." in html


@pytest.mark.parametrize("hostile", ["%ed%a0%80", "a" * 12_000, "' OR 1=1 --", "%F0%9F%92%A5"])
def test_hostile_words_never_break_the_page(browser: Client, access: Access, hostile: str):
    """API-17, for pages."""
    for name in ("q", "bank", "type", "tag", "cursor", "created_after", "min_importance", "agent_id"):
        assert browser.get(f"{LIST}?{name}={hostile}").status_code == 200, name
    assert browser.get(f"{LIST}?q=%00").status_code == 422


def test_a_row_that_cannot_be_opened_does_not_take_the_list_with_it(browser: Client, access: Access):
    """ENC-18: one broken row breaks only itself."""
    broken = remember(access, "This one will be damaged.")
    remember(access, "This one stays readable.")
    with connection.cursor() as cursor:
        flipped = "set_byte(content, 40, (get_byte(content, 40) + 1) %% 256)"
        cursor.execute(f"UPDATE memories_memory SET content = {flipped} WHERE id = %s", [broken.pk])
    html = page(browser)
    assert "Cannot be opened" in html
    assert "This one stays readable." in html
    assert "cannot be opened" in page(browser, f"{LIST}{broken.pk}/")


def test_htmx_gets_the_part_it_asked_for(browser: Client, access: Access):
    remember(access, "Only the list, please.")
    part = page(browser, LIST, HX_Request="true", HX_Target="browse")
    assert part.lstrip().startswith('<div id="browse"')
    assert "<html" not in part
    assert "Only the list, please." in part
    restored = page(browser, LIST, HX_Request="true", HX_Target="browse", HX_History_Restore_Request="true")
    assert "<html" in restored


def test_twice_as_many_rows_cost_no_more_queries(browser: Client, access: Access):
    """No page asks per row; looking up words and banks costs the few more that it must."""

    def cost(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            page(browser, address)
        return len(asked)

    for number in range(12):
        remember(access, f"Sentence {number}.", bank="Work", agent_id="robot", tags=["a"])
    addresses = [LIST, f"{LIST}?bank=work&type=fact&age=7d", f"{LIST}?bank=work&type=fact&q=sentence&age=7d"]
    few = [cost(address) for address in addresses]
    for number in range(12, 24):
        remember(access, f"Sentence {number}.", bank="Work", agent_id="robot", tags=["a"])
    assert [cost(address) for address in addresses] == few
    assert max(few[:2]) <= MOST_QUERIES, few
    assert few[2] <= MOST_QUERIES, few


def test_an_empty_vault_says_how_to_begin(browser: Client, vault: object):
    html = page(browser)
    assert "Nothing remembered yet" in html
    assert "Connect an agent" in html


def test_discarded_memories_show_only_where_asked(browser: Client, access: Access):
    """STA-04."""
    memory = remember(access, "Rejected in review.", status="draft")
    Memory.objects.filter(pk=memory.pk).update(status=Status.DISCARD)
    assert "Rejected in review." not in page(browser, f"{LIST}?status=draft")
    assert "Rejected in review." in page(browser, f"{LIST}?status=discard")


def test_a_value_can_be_left_out_and_stays_to_be_seen(browser: Client, access: Access):
    remember(access, "A fact of work.", type="fact")
    remember(access, "A task at home.", type="task")
    out = page(browser, links(page(browser))["− Leave out Fact"])
    assert "A fact of work." not in out
    assert "A task at home." in out
    assert count_at(out, "Task") == 1
    assert "Do not leave out Fact" in out
    assert re.search(r"Left out: </span>Fact</span><span class=\"count\">1<", out)
    assert "A fact of work." in page(browser, links(out)["− Do not leave out Fact"])


def test_columns_are_chosen_sorted_by_and_remembered(browser: Client, access: Access):
    remember(access, "Less.", importance=1)
    remember(access, "More.", importance=5)
    html = page(browser)
    assert re.search(r'<th scope="col" aria-sort="descending"><a [^>]*id="sort-created"', html)
    html = page(browser, links(html)["Importance"])
    assert re.search(r'aria-sort="descending"><a [^>]*id="sort-importance"', html)
    assert html.index("More.") < html.index("Less.")
    sent = {"column": ["trust", "recalls"], "next": f"{LIST}?bank=general"}
    answer = browser.post("/memories/columns/", sent)
    assert (answer.status_code, answer["Location"]) == (303, f"{LIST}?bank=general")
    html = page(browser)
    assert "Recalled</th>" in html
    assert "Importance</a>" not in html
    browser.post("/memories/columns/", {"usual": "1"})
    assert "Importance</a>" in page(browser)


def test_an_empty_list_says_which_condition_took_most_away(browser: Client, access: Access):
    for number in range(3):
        remember(access, f"Sentence {number} about gardens.", bank="Work", type="fact")
    remember(access, "A task about food.", bank="Health", type="task")
    html = page(browser, f"{LIST}?bank=work&type=task&q=gardens")
    assert "Nothing matches" in html
    assert re.search(r'Without <b>Task</b></a> <span class="count">3 memories', html)
    assert "gardens." in page(browser, links(html)["Without Task"])
    assert ">State<" in html, "the filters stay"
    drafts = page(browser, f"{LIST}?status=draft&q=gardens")
    assert re.search(r'Without <b>Drafts</b></a> <span class="count">3 memories', drafts)


def test_what_the_text_leaves_out_by_words_alone_is_blamed_too(browser: Client, access: Access):
    remember(access, "A task about food.", type="task")
    html = page(browser, f"{LIST}?q=elephants+type:task")
    assert re.search(r"Without <b>“elephants”</b></a> <span class=\"count\">1 memory", html)


def test_counts_that_fail_leave_the_list_and_every_filter(
    browser: Client, access: Access, monkeypatch: pytest.MonkeyPatch
):
    def fail(*given: object) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr(listing, "surveyed", fail)
    remember(access, "Here I am.", type="task")
    html = page(browser)
    assert "The counts could not be made just now" in html
    assert "Here I am." in page(browser, links(html)["Task"])


def test_a_row_leads_to_its_page_and_back_to_this_list(browser: Client, access: Access):
    remember(access, "Here I am.", bank="Work")
    html = page(browser, f"{LIST}?bank=work&sort=created_at")
    memory = page(browser, links(html)["Here I am."])
    assert f'href="{LIST}?bank=work&amp;sort=created_at"' in memory


def test_a_page_of_a_hundred_fits_the_budget(browser: Client, access: Access):
    for number in range(100):
        remember(access, f"Sentence {number}. " + "A text of some length, as memories are. " * 8, dedup=False)
    html = page(browser, f"{LIST}?limit=100&bank=general")
    assert len(gzip.compress(html.encode(), 6)) <= 60_000


@pytest.mark.parametrize(
    "query",
    [
        " ".join(f"-word{number}" for number in range(12)),
        "milk " + " ".join(f"-word{number}" for number in range(12)),
        " ".join(f'-"milk number {number}"' for number in range(12)),
        'milk -"milk number 1" -word3 "oats 7"',
    ],
)
def test_however_much_is_left_out_it_is_asked_at_once(browser: Client, access: Access, query: str):
    """≤ 15 queries, whatever the text asks for."""
    for number in range(20):
        remember(access, f"Milk number {number} word{number} and oats {number}.", dedup=False)
    with CaptureQueriesContext(connection) as asked:
        html = page(browser, f"{LIST}?q={quote_plus(query)}")
    assert len(asked) <= MOST_QUERIES
    left = {number for number in range(20) if f"oats {number}." in html}
    assert left == ({7} if "oats" in query else set(range(12, 20)))

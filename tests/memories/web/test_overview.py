"""The first page: every block by itself, every number with its list, plots from counts."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memories.calls.guarding import ask_permit, note_error
from memories.models import Memory, Tally
from memories.rules.rollups import Metric
from memories.rules.vocabulary import GuardedService
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory
from memories.services.rollups import roll_up
from memories.web import overview as page
from memoryhub.lib.clock import now
from memoryhub.lib.workers import BrokerView
from memoryhub.providers.base import ProviderError
from tests.factories import make_key, remember, write

pytestmark = pytest.mark.django_db
#: Session and user included.
MOST_QUERIES = 15


@pytest.fixture(autouse=True)
def _a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers, with a worker, as far as the page can see."""
    monkeypatch.setattr("memories.web.healthstrip.view_broker", lambda _: BrokerView(True, 2, now().timestamp()))


def html(browser: Client, address: str = "/", **headers: str) -> str:
    response = browser.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_an_empty_vault_shows_the_first_steps_and_waits_for_the_first_memory(browser: Client, access: Access):
    make_key(access)
    empty = html(browser)
    assert "1. Make a key for your agent" in empty
    assert 'hx-trigger="every 5s"' in empty
    assert "<figure" not in empty
    asked = {"HX-Request": "true", "HX-Target": "first-run"}
    assert html(browser, **asked).lstrip().startswith('<div class="stack" id="first-run"')
    remember(access, "The first one.")
    assert browser.get("/", headers=asked).headers["HX-Refresh"] == "true"


def test_a_vault_whose_last_memory_was_erased_is_no_new_one(browser: Client, access: Access):
    erase_memory(access, remember(access, "Forget me.").pk)
    assert "first-run" not in html(browser)


def test_every_part_says_how_it_is_in_words(browser: Client, access: Access):
    remember(access, "Something.")
    found = html(browser)
    for name in ("Database", "Index", "Broker", "Workers", "Model guard", "Embedder"):
        assert f'<span class="name">{name}</span>' in found
    assert "2 programs run" in found
    assert "/system/#parts-title" in found


def test_a_broker_that_is_away_takes_nothing_along(browser: Client, access: Access, monkeypatch: Any):
    remember(access, "Something.")
    monkeypatch.setattr("memories.web.healthstrip.view_broker", lambda _: BrokerView(answers=False))
    found = html(browser)
    assert "Does not answer" in found
    assert "Writes go on, jobs wait" in found
    assert "cannot be shown" not in found


@pytest.mark.parametrize(
    ("part", "what"),
    [("tiles", "The numbers"), ("inbox_lines", "What waits"), ("activity_lines", "What happened lately")],
)
def test_a_part_that_fails_says_so_and_the_others_stand(browser, access, monkeypatch, part, what):
    remember(access, "Something.")

    def fail(*_: object) -> None:
        raise OperationalError("timeout")

    monkeypatch.setattr(page, part, fail)
    found = html(browser)
    assert found.count("cannot be shown just now") == 1
    assert f"{what} cannot be shown just now" in found
    assert 'id="memories"' in found


def test_a_broker_check_that_breaks_is_a_gap_in_the_strip(browser, access, monkeypatch):
    remember(access, "Something.")

    def fail(_: str) -> BrokerView:
        raise OSError

    monkeypatch.setattr("memories.web.healthstrip.view_broker", fail)
    assert html(browser).count("Could not be asked") == 2


def test_invented_numbers_are_called_so(browser: Client, access: Access):
    """The sample vault shows model calls where no model is."""
    remember(access, "Something.")
    assert "are invented" not in html(browser)
    make_key(access, name="forge (sample)")
    assert "are invented" in html(browser)


def test_an_open_guard_has_a_card_that_says_what_still_works(browser: Client, access: Access):
    """GRD-14."""
    remember(access, "Something.")
    for _ in range(5):
        note_error(access, ask_permit(access, GuardedService.CHAT), ProviderError("The model answered 500."))
    found = html(browser)
    assert "Error guard of the language model" in found
    assert "The model answered 500." in found
    assert "Call again now" in found
    browser.post("/system/guard/reset/")
    assert "Error guard of the language model" not in html(browser)
    assert "language model: paused 1 time" in html(browser).lower()


def test_the_plots_follow_the_period_and_the_clock(browser: Client, access: Access):
    remember(access, "Something.", event_at="2026-01-01T00:00:00Z")
    for period in ("24h", "7d", "30d", "90d", "nonsense"):
        for clock in ("", "created", "mentioned", "recalled", "nonsense"):
            html(browser, f"/?period={period}&clock={clock}&stage=nonsense")
    assert "Nothing was mentioned in this period." in html(browser, "/?period=7d&clock=mentioned")


def test_every_picture_has_a_title_words_and_its_numbers(browser: Client, access: Access):
    """UI: nothing is told by a picture alone."""
    remember(access, "Something.")
    roll_up()
    found = html(browser)
    for chart in re.findall(r'<svg class="chart".*?</svg>\s*</div>', found, re.DOTALL):
        assert "<title" in chart
        assert "<desc" in chart
        assert 'tabindex="0" role="img" aria-label="' in chart
    assert found.count('<svg class="chart"') == found.count('<details class="twin">') >= 2
    assert " style=" not in found


def test_tiles_lead_to_lists_and_count_the_period(browser: Client, access: Access):
    remember(access, "One.")
    remember(access, "Two.")
    Tally.objects.create(vault=access.vault, metric=Metric.TOOK.value, label="whole", cell=28, n=4)
    found = html(browser)
    tiles = dict(re.findall(r'<span class="label">.*?</svg>(.*?)</span><b>(.*?)</b>', found))
    assert tiles["Active memories"] == "2"
    assert tiles["Added"] == "2"
    assert tiles["Searches"] == "4"


def test_every_number_of_memories_is_that_of_the_list_it_leads_to(browser: Client, access: Access):
    """Expired, replaced and put away ones among them; by bank too."""
    old = remember(access, "The ferry leaves at nine.")
    write(access, "The ferry leaves at ten.", supersedes=str(old.pk))
    archive_memory(access, remember(access, "Bring the blue rope.").pk)
    remember(access, "Perhaps the pier is closed.", status="draft")
    for bank in ("Work", "Work", "General"):
        ended = remember(access, f"Pass {uuid4()} is valid.", bank=bank)
        Memory.objects.filter(pk=ended.pk).update(expires_at=now() - dt.timedelta(minutes=1))
    remember(access, "The pier has two lamps.", bank="Work")
    found = html(browser)
    shown = re.findall(r'<a[^>]* href="(/memories/[^"]*)"[^>]*>.*?<b>([\d,]+)</b>', found, re.DOTALL)
    shown += re.findall(r'<a[^>]* href="(/memories/\?bank=[^"]*)"[^>]*>.*?<span class="num">([\d,]+)', found, re.DOTALL)
    assert len(shown) == 3 + 7
    for address, number in shown:
        (total,) = re.findall(r'<p class="total">([\d,]+) memor', html(browser, unescape(address)))
        assert (address, total) == (address, number)


def test_the_page_asks_few_questions_and_none_of_the_memories_to_count_them(browser: Client, access: Access):
    """≤ 15 queries; numbers come from counts."""
    remember(access, "Something.")
    remember(access, "Perhaps.", status="draft")
    html(browser)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        html(browser)
    assert len(asked) <= MOST_QUERIES, [query["sql"][:90] for query in asked.captured_queries]
    counting = [sql["sql"] for sql in asked.captured_queries if "COUNT(" in sql["sql"].upper()]
    scans = [sql for sql in counting if "memories_memory" in sql and "draft" not in sql and "index_state" not in sql]
    assert scans == []


def test_news_are_announced_and_never_inserted(browser: Client, access: Access):
    remember(access, "One.")
    found = html(browser)
    (after,) = re.findall(r'/overview/news/\?after=(\d+)"', found)
    assert "new: show" not in html(browser, f"/overview/news/?after={after}")
    remember(replace(access, request_id="another"), "Two.")
    told = html(browser, f"/overview/news/?after={after}")
    assert "1 new: show" in told
    assert "Two." not in told
    shown = html(browser, "/overview/recent/", **{"HX-Request": "true"})
    assert "Two." in shown
    assert 'hx-swap-oob="true"' in shown
    assert browser.get("/overview/news/?after=nonsense").status_code == 200


def test_somebody_of_another_vault_sees_nothing_of_it(browser: Client, access: Access, other_access: Access):
    remember(other_access, "Theirs.")
    assert "first-run" in html(browser)


def test_banks_have_a_curve_and_jobs_a_queue(browser: Client, access: Access):
    """BNK-12, and the queue on its page; not in the part that asks again every few seconds."""
    remember(access, "Something.", bank="Work")
    assert "1 stored in the last 30 days" in html(browser, "/banks/")
    assert "Queue, 7 days" in html(browser, "/jobs/")
    assert "Queue, 7 days" not in html(browser, "/jobs/", **{"HX-Request": "true", "HX-Target": "jobs"})


def test_a_vault_that_is_not_counted_yet_is_not_called_new(browser: Client, access: Access):
    """One filled before there were counts, or restored, until the next round of the workers."""
    remember(access, "It was here before.")
    Tally.objects.all().delete()
    page = html(browser)
    assert "first-run" not in page
    assert "still being counted" in page

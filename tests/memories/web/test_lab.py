"""The recall lab without a browser: what it asks, what it shows, and what it does with nonsense."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from banks.access import Access
from memories.models import Lookup, Memory
from memories.rules.filters import SearchMode
from memories.services.accesses import flush_accesses
from memories.web.addresses import Address
from memories.web.highlighting import SHOWN, highlighted, shared_words
from memories.web.labquestion import asked_of_lab, conditions_in, question_in
from memories.web.labresult import number
from tests.factories import remember

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Target": "found"}


def shown(client: Client, query: str = "", **headers: str) -> str:
    response = client.get(f"/recall/?{query}", headers=headers)
    assert response.status_code == 200
    return unescape(response.content.decode())


@pytest.fixture
def bicycle(access: Access) -> Memory:
    remember(access, "The invoice of March is paid.", bank="Work")
    return remember(access, "The bicycle has a flat tyre.", bank="Personal")


def test_an_answer_explains_itself(browser: Client, bicycle: Memory):
    """SRC-16: text with the words that were found, labels, score, every part, every stage, and how to ask it again."""
    html = shown(browser, "q=where+is+the+bicycle")
    assert "The <mark>bicycle</mark> has a flat tyre." in html
    assert f"/memories/{bicycle.pk}/" in html
    assert re.search(r"Hybrid \(1 \+ \d+ → \d+\)", html)
    for words in ("Words (BM25)", "Meaning", "Plain cosine", "Words in common: bicycle", "Find words", "Open the best"):
        assert words in html, words
    assert '"query": "where is the bicycle"' in html
    assert "httpx.post(" in html


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (f"q={'a' * 12_000}", "The question: String should have at most 10000 characters"),
        (f"q=bicycle+tag:{'a' * 12_000}", "The conditions: String should have at most 10000 characters"),
    ],
    ids=["question", "conditions"],
)
def test_what_no_search_takes_is_said_in_place(browser: Client, bicycle: Memory, query: str, told: str):
    """Nothing is searched, nothing is lost: the text stays in its field."""
    html = shown(browser, query)
    assert told in html
    assert "Not searched" in html
    assert "flat tyre" not in html
    assert told in shown(browser, query, **HTMX)


def test_bars_share_a_legend_and_an_order(browser: Client, access: Access):
    """Every colour once, explained before the hits; the numbers of the answer in words."""
    for place in ("garage", "cellar", "garden"):
        remember(access, f"The bicycle stands in the {place}.", importance=5)
    html = shown(browser, "q=bicycle+garage")
    legend = re.search(r'aria-label="Colours of the bars">(.*?)</ul>', html, re.DOTALL)
    assert legend
    order = re.findall(r'<span class="dot (hue-\d+)"', legend[1])
    assert len(order) == len(set(order)) > 1
    bars = [re.findall(r'<rect class="(hue-\d+)"', bar) for bar in re.findall(r'class="partbar".*?</svg>', html)]
    assert len(bars) == 3
    assert all(bar == [hue for hue in order if hue in bar] for bar in bars)
    assert re.search(r"3 found by words and \d+ by meaning; 3 different ones were ranked\.", html)


def test_while_somebody_types_words_alone_are_looked_up(browser: Client, bicycle: Memory):
    """No embedder, no line in the log; the page then asks by itself for the whole answer, which is no access either."""
    flush_accesses()
    html = shown(browser, "q=bicycle&pass=typing", **HTMX)
    assert "Keyword (1)" in html
    assert "<html" not in html
    assert 'hx-get="/recall/?q=bicycle&pass=idle"' in html
    assert "Hybrid (" in shown(browser, "q=bicycle&pass=idle", **HTMX)
    flush_accesses()
    assert Lookup.objects.count() == 0
    shown(browser, "q=bicycle")
    flush_accesses()
    assert Memory.objects.get(pk=bicycle.pk).access_count == 1
    assert Lookup.objects.get().query == "bicycle"


def test_the_address_is_the_state(browser: Client, bicycle: Memory):
    """Typing replaces it, asking adds a step to go back to; neither keeps how it came about."""
    typed = browser.get("/recall/?q=bicycle&top_k=&pass=typing", headers=HTMX)
    assert typed.headers["HX-Replace-Url"] == "/recall/?q=bicycle"
    asked = browser.get("/recall/?q=bicycle&top_k=5", headers=HTMX)
    assert asked.headers["HX-Push-Url"] == "/recall/?q=bicycle&top_k=5"


def test_two_searches_side_by_side(browser: Client, access: Access):
    """Each hit of the second says in words how it moved."""
    for number_ in range(6):
        remember(access, f"Bicycle number {number_} stands in the garage.", importance=1 + number_ % 5)
    html = shown(browser, "q=bicycle+garage&top_k=6&other.top_k=2&other.search_profile=seed")
    assert "<h2>First</h2>" in html
    assert "<h2>Second</h2>" in html
    assert len(re.findall(r">(▲ up \d|▼ down \d|same place|new)</span>", html)) == 2


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("top_k=many", "Results “many”"),
        ("top_k=0", "Results “0”"),
        ("search_threshold=7", "Threshold “7”"),
        ("other.search_profile=best", "Profile “best”"),
        ("bank=moon", "Bank “moon”"),
        ("type=dream", "Type “dream”"),
        ("as_of=2999-01-01T00:00", "As of “2999-01-01T00:00”"),
        ("as_of=tomorrow", "As of “tomorrow”"),
        ("semantic_weight=nan", "Semantic “nan”"),
    ],
)
def test_what_means_nothing_is_named_and_the_rest_is_answered(browser: Client, bicycle: Memory, query: str, told: str):
    """SRC-20: a mistake never empties the page."""
    html = shown(browser, f"q=bicycle&{query}")
    assert told in html
    assert "flat tyre" in html


def test_a_mistake_in_the_question_is_shown_where_it_is(browser: Client, bicycle: Memory):
    html = shown(browser, "q=the+bicycle+banc:work")
    assert "the bicycle <mark>banc:</mark>work" in html
    assert "flat tyre" in html


def test_conditions_narrow_and_words_rank(browser: Client, bicycle: Memory):
    assert "Nothing found" in shown(browser, "q=bicycle+bank:work")
    assert "flat tyre" in shown(browser, "q=bicycle+-bank:work")
    alone = shown(browser, "q=bank:personal")
    assert "Only conditions so far" in alone
    assert "/memories/?q=bank%3Apersonal" in alone


def test_as_of_looks_back(browser: Client, bicycle: Memory):
    """The bicycle was not yet remembered then."""
    assert "flat tyre" not in shown(browser, "q=bicycle&as_of=2020-01-01T00:00")


def test_a_text_is_parted_into_question_and_conditions():
    text = 'where is the "blue bicycle" bank:work -tag:tmp now'
    assert question_in(text) == "where is the blue bicycle now"
    assert conditions_in(text) == '             "blue bicycle" bank:work -tag:tmp    '
    assert conditions_in("only words") == ""
    assert question_in("bank:work -word") == ""


def test_the_second_search_keeps_what_it_does_not_change():
    address = Address("/recall/", (("q", "x"), ("top_k", "5"), ("date_weight", "2"), ("other.date_weight", "0")))
    asking = asked_of_lab(address, [], SearchMode.HYBRID)
    assert asking.left is not None
    assert asking.right is not None
    assert (asking.left.top_k, asking.right.top_k) == (5, 5)
    assert (asking.left.settings, asking.right.settings) == ({"date_weight": 2.0}, {"date_weight": 0.0})


def test_only_shared_words_are_marked():
    spans = highlighted("Deploys run on Fridays, never on Mondays.", "when do we deploy on friday")
    assert shared_words(spans) == ["deploys", "fridays"]
    assert "".join(span.text for span in spans) == "Deploys run on Fridays, never on Mondays."


def test_a_long_text_is_shown_around_its_first_match():
    spans = highlighted("filler " * 500 + "the bicycle " + "more " * 500, "bicycle")
    text = "".join(span.text for span in spans)
    assert "bicycle" in text
    assert text.startswith("…")
    assert text.endswith("…")
    assert len(text) <= SHOWN + 2


@pytest.mark.parametrize(
    ("value", "short"), [(0.123456, "0.123"), (12.3456, "12.3"), (-0.5, "-0.5"), (0.0, "0"), (12345.6, "12,346")]
)
def test_three_digits_to_look_at_and_all_to_be_sure(value: float, short: str):
    assert (number(value).short, number(value).full) == (short, repr(value))


def test_a_viewer_may_use_it_and_a_stranger_may_not(viewer, stranger, bicycle: Memory):
    for person, status in ((viewer, 200), (stranger, 404)):
        client = Client()
        client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
        assert client.get("/recall/?q=bicycle").status_code == status
    assert Client().get("/recall/?q=bicycle").status_code == 302


def test_why_not_names_the_stage(browser: Client, access: Access, bicycle: Memory):
    """Which filter, which threshold, which place: the search itself, asked about one memory by id or address."""
    invoice = remember(access, "Pay the invoice of April.", bank="Work")
    address = f"q=bicycle+bank:personal&why=http://hub/memories/{invoice.pk}/%23top"
    html = shown(browser, address)
    assert "Pay the invoice of April." in html
    assert 'value="bicycle bank:personal"' in html
    there = shown(browser, f"q=bicycle&why={bicycle.pk}")
    assert "notice ok" in there
    assert "There is no id of a memory in “nonsense”" in shown(browser, "q=bicycle&why=nonsense")
    unknown = "01a1fdf4-2f67-7435-b7d0-7abfca36a300"
    assert "There is no such memory" in shown(browser, f"q=bicycle&why={unknown}")

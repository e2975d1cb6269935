"""The search box of the list: conditions as chips, mistakes where they stand."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from django.test import Client

from banks.access import Access
from memories.web.addresses import Address
from memories.web.querychips import query_chips
from tests.factories import remember

pytestmark = pytest.mark.django_db


def page(client: Client, q: str) -> str:
    response = client.get(f"/memories/?q={quote(q)}")
    assert response.status_code == 200
    return response.content.decode()


def chips(q: str) -> dict[str, str]:
    """Label → the text that is left."""
    here = Address("/memories/", (("q", q), ("sort", "updated_at")))
    found = query_chips(here, q)
    assert all("sort=updated_at" in url for _, url in found)
    return {label: parse_qs(urlsplit(url).query).get("q", [""])[0] for label, url in found}


def test_every_condition_can_be_taken_away():
    assert chips('bank:work oat -tag:tmp milk "red wine"') == {
        "bank:work": 'oat -tag:tmp milk "red wine"',
        "-tag:tmp": 'bank:work oat milk "red wine"',
        '"red wine"': "bank:work oat -tag:tmp milk",
        "“oat milk”": 'bank:work -tag:tmp "red wine"',
    }
    assert chips("oat milk") == {"“oat milk”": ""}
    assert chips("banc:work") == {"“banc:work”": ""}
    assert chips("banc:work oats") == {"“oats”": "banc:work"}


def test_the_list_is_by_the_conditions(browser: Client, access: Access):
    """SRC-20: what REST understands, the search box understands."""
    remember(access, "Oats in the morning.", bank="Work", tags=["grain"])
    remember(access, "Oats in the evening.", bank="Work")
    html = page(browser, 'bank:work -tag:grain "the evening"')
    assert "Oats in the evening." in html and "Oats in the morning." not in html
    assert "1 memory" in html
    assert re.search(r'class="chip"[^>]*><span>bank:work</span>', html)
    assert 'id="mistakes"' not in html


def test_a_mistake_is_shown_where_it_stands(browser: Client, access: Access):
    """SRC-20: the list goes on beside it, and nothing of the text becomes markup."""
    remember(access, "Oats in the morning.")
    html = page(browser, "oats banc:<b>x</b>")
    assert "Oats in the morning." in html
    assert "<code>oats <mark>banc:</mark>&lt;b&gt;x&lt;/b&gt;</code>" in html
    assert "There is no field “banc”. Did you mean bank:<b>x</b>?" in unescape(html)
    assert 'aria-describedby="mistakes"' in html
    assert "<b>x" not in html

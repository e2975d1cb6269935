"""The palette as a page: every place, action, bank and memory by a few letters, for whoever may go there."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from banks.access import Access
from banks.models import Membership, Vault
from tests.factories import remember

pytestmark = pytest.mark.django_db
DIALOG = {"HX-Request": "true", "HX-Target": "palette", "HX-Current-URL": "http://testserver/jobs/?state=dead"}


def lines(client: Client, question: str = "", **headers: str) -> list[str]:
    """The labels it offers, in order."""
    response = client.get("/palette/", {"q": question}, headers=headers)
    assert response.status_code == 200
    html = response.content.decode()
    return [unescape(name) for name in re.findall(r'<span class="name"[^>]*>(.*?)</span>', html)]


def test_it_offers_every_place_and_action(browser: Client, vault: Vault):
    offered = lines(browser)
    for name in ("Overview", "Recall lab", "Summaries & dreams", "New memory", "Plan a clean-up", "Theme: dark"):
        assert name in offered, name


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("mem", "Memories"),
        ("new k", "New key"),
        ("audit", "Activity"),
        ("lab rec", "Recall lab"),
        ("CLEAN", "Cleanup"),
        ("up", "Plan a clean-up"),
        ("compact", "Density: compact"),
        ("hea", "Health"),
    ],
)
def test_a_few_letters_are_enough(browser: Client, vault: Vault, question: str, first: str):
    """A name before a word in it, a word in it before what else it may be called."""
    assert lines(browser, question)[0] == first


def test_memories_are_found_beside_the_places(browser: Client, access: Access):
    kept = [remember(access, f"The cello lesson number {number}.", dedup=False) for number in range(10)]
    remember(access, "A bicycle.")
    response = browser.get("/palette/", {"q": "cello"}).content.decode()
    found = re.findall(r'href="/memories/([0-9a-f-]{36})/"', response)
    assert len(found) == 8
    assert set(found) <= {str(memory.pk) for memory in kept}
    assert 'href="/memories/?q=cello"' in response
    assert 'href="/recall/?q=cello"' in response


def test_what_somebody_types_is_text(browser: Client, access: Access):
    remember(access, "<script>alert(1)</script> is a script.")
    html = browser.get("/palette/", {"q": "<script>"}).content.decode()
    assert "<script>alert" not in html
    assert browser.get("/palette/", {"q": "x" * 4_000}).status_code == 200


def test_while_somebody_types_only_words_are_looked_for(browser: Client, access: Access):
    remember(access, "The cello lesson.")
    part = browser.get("/palette/", {"q": "cello"}, headers=DIALOG).content.decode()
    assert part.lstrip().startswith('<div id="palette"')
    assert "pause=1" in part, "and when they pause, for meaning too"
    assert "hx-trigger" not in browser.get("/palette/?q=cello&pause=1", headers=DIALOG).content.decode()


def test_a_choice_comes_back_to_the_page_it_was_made_on(browser: Client, vault: Vault):
    part = browser.get("/palette/", {"q": "dark"}, headers=DIALOG).content.decode()
    assert 'name="next" value="/jobs/?state=dead"' in part
    assert 'formaction="/preferences/theme/" name="theme" value="dark"' in part
    elsewhere = {**DIALOG, "HX-Current-URL": "https://evil.example/x"}
    assert "evil" not in browser.get("/palette/", headers=elsewhere).content.decode()


def test_it_offers_only_what_a_person_may_do(client: Client, vault: Vault, owner: User, stranger: User):
    Membership.objects.create(vault=vault, user=stranger, role="viewer")
    client.force_login(stranger, backend="allauth.account.auth_backends.AuthenticationBackend")
    offered = lines(client)
    assert "Memories" in offered
    assert not {"Keys", "New key", "New memory", "New bank"} & set(offered)


def test_it_costs_few_queries(browser: Client, access: Access, django_assert_max_num_queries: DjangoAssertNumQueries):
    for number in range(8):
        remember(access, f"The cello lesson number {number}.", dedup=False)
    browser.get("/palette/", {"q": "cello"})
    with django_assert_max_num_queries(15):
        browser.get("/palette/", {"q": "cello"})


@pytest.mark.parametrize("address", ["http://[bad", "//elsewhere/", "http://elsewhere/jobs/", "\\x"])
def test_where_somebody_stands_is_the_browsers_word(browser: Client, vault: Vault, address: str):
    headers = DIALOG | {"HX-Current-URL": address}
    assert "elsewhere" not in browser.get("/palette/", headers=headers).content.decode()

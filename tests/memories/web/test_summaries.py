"""The page about summaries: look first, summarise one or all, take back; no JavaScript needed."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from memories.models import Job, Memory
from memories.rules.settings import Level
from memories.services.settings import write_setting
from tests.clusters import GARDEN, live, old, summarise

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/summaries/"


def shown(client: Client, address: str = PAGE) -> str:
    return unescape(client.get(address).content.decode())


def test_clusters_are_shown_with_members_and_reason_before_anything_happens(browser: Client, access: Access):
    old(access, *GARDEN, tags=["garden"])
    html = shown(browser)
    assert "1 cluster among 3 memories" in html
    assert all(text in html for text in GARDEN)
    assert re.search(r"at least \d\d % alike, \d\d % on average; shared: #garden", html)
    assert "nothing is spent" in html
    assert not Job.objects.filter(kind="summarize_memories").exists()


def test_the_text_is_shown_before_and_nothing_is_offered_that_saves_nothing(browser: Client, access: Access):
    """CLU-11, CLU-18: a person sees what five memories would become; where that is no shorter there is no button."""
    old(
        access,
        *(f"Ann parked the {car} van behind the barn on ramp {n}." for n, car in enumerate(("red", "old", "big"))),
    )
    html = shown(browser)
    assert "Ann parked the red van behind the barn on ramp 0." in html
    assert "Nothing would be saved" in html
    assert "Summarise all" not in html
    old(access, *GARDEN, user_id="bob")
    html = shown(browser)
    assert f'<p class="text">{GARDEN[-1]}</p>' in html
    assert html.count('name="memory"') == 3
    assert "Summarise all" in html
    assert "1 summary, 1 without a usable text" in summarise(access).stage


def test_one_cluster_or_all_and_back_again(browser: Client, access: Access):
    """The button of a cluster names its memories; the job is shown; undo brings the sources back."""
    old(access, *GARDEN)
    old(access, *GARDEN, user_id="bob")
    first = re.findall(r'name="memory" value="([^"]+)"', shown(browser))[:3]
    answer = browser.post(f"{PAGE}start/", {"memory": first})
    assert answer.status_code == 303
    assert answer["Location"].startswith("/jobs/")
    summarise(access)
    made = Memory.objects.get(is_summarized=True)
    assert [str(one) for one in made.summarized_from] == first
    browser.post(f"{PAGE}start/")
    summarise(access)
    assert len(live()) == 2
    html = shown(browser)
    assert html.count("3 into 1") == 2
    assert "Nothing to summarise" in html
    said = browser.post(f"{PAGE}{made.pk}/undo/", follow=True).content.decode()
    assert "3 memories are as they were" in said
    assert len(live()) == 4
    assert "Taken back before" in said


def test_what_cannot_be_done_is_said(browser: Client, access: Access):
    memory, *_ = old(access, *GARDEN)
    answer = browser.post(f"{PAGE}start/", {"memory": [str(memory.pk)]}, follow=True).content.decode()
    assert "must name 3 to 8 memories" in answer
    write_setting(access, Level.VAULT, "enable_summarization", False)
    assert "switched off" in shown(browser)
    assert "switched off" in browser.post(f"{PAGE}start/", follow=True).content.decode()
    assert browser.post(f"{PAGE}{memory.pk}/undo/").status_code == 404


def test_viewers_look_and_change_nothing(client: Client, viewer: User, access: Access):
    old(access, *GARDEN)
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    html = shown(client)
    assert GARDEN[0] in html
    assert "Summarise all" not in html
    assert client.post(f"{PAGE}start/").status_code == 403
    assert not Job.objects.filter(kind="summarize_memories").exists()

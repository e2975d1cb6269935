"""The review queue in the browser: what waits, every decision, and taking it back."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.test import Client

from banks.access import Access
from memories.models import Changeset, DuplicatePair, Memory
from memoryhub.lib.clock import now
from tests.factories import make_pair, remember

pytestmark = pytest.mark.django_db


def text(browser: Client, address: str = "/review/") -> str:
    response = browser.get(address)
    assert response.status_code == 200
    return response.content.decode()


def status(memory: Memory) -> str:
    return str(Memory.objects.get(pk=memory.pk).status)


def test_drafts_are_approved_edited_and_rejected(browser: Client, access: Access):
    """STA-07: each decision shows how far somebody has come."""
    good, typo, junk = (remember(access, one, status="draft") for one in ("Good.", "Likes tee.", "Junk."))
    html = text(browser)
    assert "0 / 3 reviewed since you signed in" in html
    assert '<span class="count hot">3<span class="vh"> waiting</span></span>' in html

    browser.post(f"/review/drafts/{good.pk}/approve/", {"version": good.version})
    browser.post(f"/review/drafts/{typo.pk}/approve/", {"version": typo.version, "content": "Likes tea."})
    browser.post(f"/review/drafts/{junk.pk}/reject/")
    assert [status(one) for one in (good, typo, junk)] == ["accepted", "accepted", "discard"]
    assert Memory.objects.get(pk=typo.pk).content == "Likes tea."
    html = text(browser)
    assert "To take it back, archive it on its page." in html
    assert "3 / 3 reviewed since you signed in" in html
    assert "No drafts wait" in html

    undo = f"/review/rejections/{Changeset.objects.get().pk}/undo/"
    assert undo in html
    browser.post(undo)
    assert status(junk) == "draft"
    assert "2 / 3 reviewed since you signed in" in text(browser)


def test_a_source_is_narrowed_to_and_rejected_as_a_whole(browser: Client, access: Access):
    noise = [
        remember(access, f"Noise {number}.", status="draft", session_id="noisy", source_kind="import", confidence=2)
        for number in range(2)
    ]
    calm = remember(access, "Calm.", status="draft", session_id="calm")
    html = text(browser)
    assert 'href="/review/?session_id=noisy"' in html and 'href="/review/?source_kind=import"' in html
    assert "Reject all" not in html
    for narrow in ("session_id=noisy", "source_kind=import", "confidence=2"):
        html = text(browser, f"/review/?{narrow}")
        assert "Reject all 2 of these" in html and "Calm." not in html
        assert f'action="/review/drafts/reject/?{narrow}"' in html

    refused = browser.post("/review/drafts/reject/?session_id=noisy", {"count": "5"}, follow=True)
    assert "2 drafts match now, not 5" in refused.content.decode()
    browser.post("/review/drafts/reject/?session_id=noisy", {"count": "2"})
    assert [status(one) for one in (*noise, calm)] == ["discard", "discard", "draft"]
    assert "2 drafts rejected." in text(browser)


def test_a_blank_correction_approves_nothing_and_says_so(browser: Client, access: Access):
    memory = remember(access, "A draft.", status="draft")
    answer = browser.post(f"/review/drafts/{memory.pk}/approve/", {"content": "  "}, follow=True)
    assert "Content: " in answer.content.decode()
    assert "`errors`" not in answer.content.decode()
    assert status(memory) == "draft"


def test_a_filter_nobody_knows_rejects_nothing(browser: Client, access: Access):
    memory = remember(access, "A draft.", status="draft")
    browser.post("/review/drafts/reject/?type=nonsense", {"count": "1"}, follow=True)
    assert status(memory) == "draft"


@pytest.mark.parametrize(
    ("decision", "state", "left"),
    [
        ("keep_both", "kept_both", ["older", "newer"]),
        ("not_duplicate", "not_duplicate", ["older", "newer"]),
        ("supersede", "superseded", ["newer"]),
        ("supersede_older", "superseded", ["older"]),
        ("merge", "merged", ["older"]),
    ],
)
def test_a_pair_is_decided_and_reopened(browser: Client, access: Access, decision: str, state: str, left: list[str]):
    """DUP-18: side by side, every way out, and back."""
    older, newer = (remember(access, f"The rent is {rent} euros.", dedup=False) for rent in (900, 950))
    pair = make_pair(older, newer, differences=["number"])
    html = text(browser, "/review/duplicates/")
    assert "Other number" in html and "87 % alike" in html
    assert re.search(r"<del>.*900.*</del>.*<ins>.*950.*</ins>", html, re.DOTALL)

    browser.post(f"/review/pairs/{pair.pk}/decide/", {"decision": decision, "content": "The rent rose to 950 euros."})
    pair.refresh_from_db()
    live = {row.pk for row in Memory.objects.filter(archived_at=None)}
    assert pair.state == state
    assert live == {{"older": older, "newer": newer}[name].pk for name in left}
    html = text(browser, "/review/duplicates/")
    assert "No pairs wait" in html

    browser.post(f"/review/pairs/{pair.pk}/reopen/")
    assert DuplicatePair.objects.get().state == "open"
    assert Memory.objects.filter(archived_at=None).count() == 2
    assert "The rent is" in text(browser, "/review/duplicates/")


@pytest.mark.parametrize(
    ("days", "first", "second", "main"),
    [
        (1, "First, the newer", "Second, the older", "supersede_older"),
        (-1, "First, the older", "Second, the newer", "supersede"),
    ],
)
def test_older_and_newer_go_by_the_dates_on_the_page(browser, access, days, first, second, main):
    """An import brings old dates late: what came first is not called older for that, and the newer date is kept."""
    came_first = remember(access, "Mira eats meat.", created_at=(now() - dt.timedelta(days=10)).isoformat())
    came_later = remember(
        access, "Mira eats no meat.", created_at=(now() - dt.timedelta(days=10 + days)).isoformat(), dedup=False
    )
    make_pair(came_first, came_later)
    html = text(browser, "/review/duplicates/")
    assert f"{first}</a>" in html
    assert f"{second}</a>" in html
    assert re.findall(r'class="btn small primary as-it-is" name="decision" value="(\w+)"', html) == [main]


def test_contradictions_wait_apart_and_nonsense_changes_nothing(browser: Client, access: Access):
    one, other = (remember(access, text, dedup=False) for text in ("Eats meat.", "Eats no meat."))
    pair = make_pair(one, other, kind="contradiction")
    assert "Eats" not in text(browser, "/review/duplicates/")
    assert "Eats" in text(browser, "/review/contradictions/")
    browser.post(f"/review/pairs/{pair.pk}/decide/", {"decision": "explode"}, follow=True)
    browser.post(f"/review/pairs/{pair.pk}/decide/", {}, follow=True)
    assert DuplicatePair.objects.get().state == "open"


def test_the_queue_answers_htmx_with_its_part(browser: Client, access: Access):
    remember(access, "A draft.", status="draft")
    asked = {"HX-Request": "true", "HX-Target": "review"}
    part = browser.get("/review/", headers=asked).content.decode()
    assert part.lstrip().startswith('<div id="review"')
    assert text(browser, "/review/?cursor=nonsense")

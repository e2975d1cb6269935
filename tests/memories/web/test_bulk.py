"""Changing several memories from the list: ticked ones, or all that match."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from memories.models import Changeset, Memory
from memories.services import bulk
from tests.factories import remember

pytestmark = pytest.mark.django_db
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"


def houses(access: Access, count: int, **more: Any) -> list[Memory]:
    return [remember(access, f"The number of house {n} is {n}.", dedup=False, **more) for n in range(count)]


def send(browser: Client, **sent: Any) -> str:
    answer = browser.post("/memories/bulk/", {"next": "/memories/?bank=work", **sent}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def test_ticked_ones_are_changed_and_the_toast_takes_it_back(browser: Client, access: Access):
    rows = houses(access, 3, bank="Work")
    html = send(browser, action="archive", id=[str(row.pk) for row in rows[:2]], reason="moved out")
    assert "Archived 2 memories." in html
    assert Memory.objects.live().count() == 1
    changeset = Changeset.objects.get()
    assert f'action="/changesets/{changeset.pk}/undo/?next=%2Fmemories%2F%3Fbank%3Dwork"' in html
    after = browser.post(f"/changesets/{changeset.pk}/undo/?next=/memories/", follow=True)
    assert "Taken back: 2 memories." in after.content.decode()
    assert Memory.objects.live().count() == 3


def test_all_that_match_are_those_of_the_list(browser: Client, access: Access):
    houses(access, 3, bank="Work")
    remember(access, "Somewhere else.", bank="Health")
    html = browser.get("/memories/?bank=work").content.decode()
    assert '<input type="hidden" name="expected_count" value="3">' in html
    assert '<input type="hidden" name="bank" value="work">' in html
    html = send(browser, action="add_tags", all="1", sure="1", expected_count="3", bank="work", set_tags="a, b")
    assert "Tagged 3 memories." in html
    assert Memory.objects.filter(tags=["a", "b"]).count() == 3


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"action": "archive", "all": "1", "expected_count": "9" * 5_000}, "Expected count"),
        ({"action": "archive", "all": "1", "expected_count": "3", "bank": "moon"}, "Not understood: Bank “moon”"),
        ({"action": "archive"}, "Tick at least one memory"),
        ({"action": "add_tags", "set_tags": " ", "id": "01a1fdf4-2f67-7435-b7d0-7abfca36a300"}, "ags"),
        ({"action": "burn", "id": "01a1fdf4-2f67-7435-b7d0-7abfca36a300"}, "ction"),
        ({"action": "archive", "id": "x"}, "valid UUID"),
    ],
    ids=["huge", "unknown bank", "nothing ticked", "no tags", "no such action", "no id"],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    browser: Client, access: Access, sent: dict[str, str], said: str
):
    houses(access, 3)
    assert said in send(browser, **sent)
    assert Memory.objects.live().count() == 3
    assert not Changeset.objects.exists()


def test_what_was_left_alone_is_said(browser: Client, access: Access):
    kept = remember(access, "Kept.", is_protected=True)
    html = send(browser, action="archive", id=[str(kept.pk), str(remember(access, "Free.").pk)])
    assert "Archived 1 memory. 1 left alone: 1 protected." in html


def test_many_lead_to_the_page_of_their_job(browser: Client, access: Access, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    houses(access, 3)
    html = send(browser, action="protect", all="1", sure="1", expected_count="3")
    assert "<h1>Change many memories</h1>" in html


def test_whoever_may_change_nothing_is_offered_nothing(client: Client, viewer: User, access: Access):
    memory = remember(access, "Only to be read.")
    client.force_login(viewer, backend=LOGIN)
    assert 'name="id"' not in client.get("/memories/").content.decode()
    answer = client.post("/memories/bulk/", {"action": "archive", "id": str(memory.pk)})
    assert answer.status_code == 403


def test_all_that_match_are_asked_about_once_more(browser: Client, access: Access):
    """A second question with the number of now; a count that drifted since is asked about again."""
    rows = houses(access, 3, bank="Work")
    html = send(browser, action="archive", all="1", expected_count="3", bank="work", reason="moved")
    assert "Archive, 3 memories?" in html
    assert Memory.objects.live().count() == 3
    sent = {"action": "archive", "all": "1", "bank": "work", "next": "/memories/", "sure": "1"}
    answer = browser.post("/memories/bulk/", {**sent, "expected_count": "7"})
    assert answer.status_code == 409
    assert "You saw 7; 3 match now. Nothing was changed." in answer.content.decode()
    html = send(browser, **sent, expected_count="2", exclude_id=str(rows[0].pk))
    assert "Archived 2 memories." in html
    assert list(Memory.objects.live()) == [rows[0]]

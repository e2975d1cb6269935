"""Daily notes, core document and dream diary in the browser: read, compare, go back, dream now."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from memories.models import CoreDocument, Dream, Job, NoteLine
from memories.services.dreams import deep_dream
from memories.services.running import run_job
from memories.services.sessions import flush_session
from memoryhub.lib.sealing import Sealed
from tests.factories import converse, day_of

pytestmark = pytest.mark.django_db

LOGIN = "allauth.account.auth_backends.AuthenticationBackend"
LEEDS = "The user lives in Leeds."


def told(access: Access, said: str, sid: str = "kitchen", **more: object) -> str:
    session = converse(access, sid, said, **more)
    job_id = flush_session(access, sid).job_id
    assert job_id is not None
    run_job(job_id)
    return day_of(session).isoformat()


def dreamt(access: Access) -> Dream:
    dream = deep_dream(access, ["default"])
    assert dream.job_id is not None
    run_job(dream.job_id)
    return dream


def text_of(browser: Client, path: str) -> str:
    response = browser.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_empty_pages_say_what_to_do(browser: Client):
    assert "Nothing was noted yet" in text_of(browser, "/summaries/daily/")
    assert "Nothing was consolidated yet" in text_of(browser, "/summaries/core/")
    assert "Nothing was dreamt yet" in text_of(browser, "/summaries/dreams/")


def test_a_day_can_be_read(browser: Client, access: Access):
    """TIE-04: the newest by itself, any by its date; each line leads to its memory."""
    day = told(access, "I live in Leeds.")
    for path in ("/summaries/daily/", f"/summaries/daily/{day}/"):
        html = text_of(browser, path)
        assert LEEDS in html
        assert "kitchen" in html
    assert browser.get("/summaries/daily/2001-01-01/").status_code == 404
    assert browser.get("/summaries/daily/nonsense/").status_code == 404


def test_a_line_that_does_not_open_breaks_only_itself(browser: Client, access: Access):
    told(access, "I live in Leeds and I work as a nurse.")
    line = NoteLine.objects.order_by("pk").first()
    assert line is not None
    line.text = Sealed(b"nonsense")
    line.save(update_fields=["text"])
    html = text_of(browser, "/summaries/daily/")
    assert "cannot be opened" in html
    assert "nurse" in html


def test_dream_now(browser: Client, access: Access):
    """TIE-06: asked with a lookback, watched while it waits, read when it ended."""
    told(access, "I live in Leeds.")
    asked = browser.post("/summaries/dreams/ask/", {"lookback_days": "7"})
    assert asked.status_code == 303
    dream = Dream.objects.get()
    assert (asked["Location"], dream.lookback_days) == (f"/summaries/dreams/{dream.pk}/", 7)
    html = text_of(browser, asked["Location"])
    assert "Under way" in html
    assert 'hx-trigger="every 2s"' in html
    run_job(Job.objects.get(kind="dream").pk)
    html = text_of(browser, asked["Location"])
    assert "Rewrote the document" in html
    assert "important or often said, and sure".capitalize() in html
    assert "hx-trigger" not in html.split('id="dream"')[1]
    assert "1 added" in text_of(browser, "/summaries/dreams/")


def test_history_and_the_way_back(browser: Client, access: Access):
    """DEF-19: each version with what it changed, word by word; going back makes a new one."""
    told(access, "I live in Leeds.")
    dreamt(access)
    told(access, "I work as a nurse.", sid="s2")
    dreamt(access)
    html = text_of(browser, "/summaries/core/")
    assert LEEDS in html
    assert "Version 2" in html
    second = text_of(browser, "/summaries/core/2/")
    assert "<ins>" in second
    first = text_of(browser, "/summaries/core/1/")
    assert "version 2 holds now" in first
    back = browser.post("/summaries/core/1/restore/", follow=True).content.decode()
    assert "as it was in version 1" in back
    assert CoreDocument.objects.get().version == 3
    assert browser.get("/summaries/core/9/").status_code == 404
    assert browser.get("/summaries/core/99999999999/").status_code == 404


def test_a_viewer_only_reads(client: Client, viewer: User, access: Access):
    """S1: no button, and no way past it."""
    client.force_login(viewer, backend=LOGIN)
    told(access, "I live in Leeds.")
    dreamt(access)
    assert "Dream now" not in text_of(client, "/summaries/dreams/")
    assert "Go back to version" not in text_of(client, "/summaries/core/1/")
    assert client.post("/summaries/dreams/ask/").status_code == 403
    assert client.post("/summaries/core/0/restore/").status_code == 403


def test_namespaces_have_links_where_there_are_several(browser: Client, access: Access):
    """TIE-20: one at a time."""
    told(access, "I live in Leeds.", sid="s1", namespace=["home"])
    assert LEEDS in text_of(browser, "/summaries/daily/")
    told(access, "I live in York.", sid="s2", namespace=["work", "u1"])
    html = text_of(browser, "/summaries/daily/?namespace=work&namespace=u1")
    assert "York" in html
    assert "Leeds" not in html
    assert 'href="/summaries/daily/?namespace=home"' in html

"""A list is saved, opened, changed, reset and forgotten."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from banks.access import Access
from memories.models import SavedView
from tests.factories import remember

pytestmark = pytest.mark.django_db
LIST = "/memories/"


def keep(browser: Client, address: str, **more: str) -> str:
    answer = browser.post("/memories/views/", {"next": address, "name": "To do", **more})
    assert answer.status_code == 303
    return str(answer["Location"])


def test_a_view_keeps_filters_text_order_and_columns(browser: Client, access: Access):
    remember(access, "A task of work.", bank="Work", type="task")
    browser.post("/memories/columns/", {"column": ["trust"]})
    there = keep(browser, f"{LIST}?type=task&q=work&sort=created_at&limit=50", pinned="1")
    browser.post("/memories/columns/", {"usual": "1"})
    html = browser.get(LIST).content.decode()
    (url,) = re.findall(r'<a class="chip" href="([^"]+)" id="view-', html)
    assert unescape(url) == there
    html = browser.get(there).content.decode()
    assert "Trust</th>" in html
    assert "A task of work." in html
    assert "is changed" not in html


def test_a_changed_view_is_saved_or_reset(browser: Client, access: Access):
    remember(access, "A task.", type="task")
    there = keep(browser, f"{LIST}?type=task")
    changed = browser.get(f"{there}&bank=general").content.decode()
    assert "“To do” is changed" in changed
    assert f'href="{there.replace("&", "&amp;")}">Reset' in changed
    keep(browser, f"{there}&bank=general")
    assert "bank=general" in SavedView.objects.get().address
    moved = browser.post("/memories/columns/", {"column": ["trust"], "next": there})
    assert "is changed" in browser.get(moved["Location"]).content.decode()


def test_a_view_is_forgotten_and_the_list_stays(browser: Client, access: Access):
    there = keep(browser, f"{LIST}?type=task")
    view = SavedView.objects.get()
    answer = browser.post(f"/memories/views/{view.pk}/delete/", {"next": there})
    assert "view=" not in answer["Location"]
    assert "type=task" in answer["Location"]
    assert not SavedView.objects.exists()
    assert "name" in browser.post("/memories/views/", {"name": " ", "next": LIST}, follow=True).content.decode()

"""Erasing one memory: said what goes and what comes back, ticked, and proved by a receipt."""

from __future__ import annotations

from html import unescape

import pytest

from memories.models import ErasureReceipt, Memory
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from tests.clusters import old, summarise
from tests.factories import remember

pytestmark = pytest.mark.django_db


def page(answer) -> str:
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_it_is_shown_ticked_erased_and_proved(browser, access):
    """UI, DESIGN §1: without the tick nothing goes; the receipt is signed and holds."""
    memory = remember(access, "My code is 4711.")
    way = f"/memories/{memory.pk}/erase/"
    assert way in page(browser.get(f"/memories/{memory.pk}/"))
    assert "Nothing comes back." in page(browser.get(way))
    assert browser.post(way, {"version": "1"}).status_code == 422
    assert Memory.objects.filter(pk=memory.pk).exists()
    done = browser.post(way, {"version": "1", "sure": "on"})
    assert done["Location"] == f"/activity/erasures/{ErasureReceipt.objects.get().pk}/"
    assert not Memory.objects.filter(pk=memory.pk).exists()
    shown = page(browser.get(done["Location"]))
    assert "genuine, and what it names is gone" in shown
    assert "4711" not in shown
    assert browser.get(way).status_code == 404


def test_summaries_that_go_and_sources_that_come_back_are_named_first(browser, access):
    """SUM, DESIGN §1: what the page says is what the erasure does."""
    sources = old(access, *(f"Mara drinks black tea at {hour}." for hour in ("seven", "eight", "nine")))
    summarise(access)
    summary = Memory.objects.get(is_summarized=True)
    shown = page(browser.get(f"/memories/{sources[0].pk}/erase/"))
    assert "1, and 1 summary made of it" in shown
    assert "2 memories come back" in shown
    version = Memory.objects.get(pk=sources[0].pk).version
    assert browser.post(f"/memories/{sources[0].pk}/erase/", {"version": version, "sure": "on"}).status_code == 303
    assert not Memory.objects.filter(pk=summary.pk).exists()
    assert set(Memory.objects.filter(archived_at=None).values_list("pk", flat=True)) == {one.pk for one in sources[1:]}


def test_what_was_changed_meanwhile_is_not_erased(browser, access):
    memory = remember(access, "Room 12.")
    update_memory(access, memory.pk, MemoryChanges(content="Room 13."))
    stale = browser.post(f"/memories/{memory.pk}/erase/", {"version": "1", "sure": "on"}, follow=True)
    assert "changed meanwhile" in page(stale)
    assert Memory.objects.filter(pk=memory.pk).exists()


def test_only_with_the_scope(client, access, viewer):
    memory = remember(access, "Room 12.")
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert "/erase/" not in page(client.get(f"/memories/{memory.pk}/"))
    assert client.get(f"/memories/{memory.pk}/erase/").status_code == 403
    assert client.post(f"/memories/{memory.pk}/erase/", {"version": "1", "sure": "on"}).status_code == 403
    assert Memory.objects.filter(pk=memory.pk).exists()

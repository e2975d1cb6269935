"""The audit in the browser: filtered by door, caller, action and request."""

from __future__ import annotations

from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from banks.models import AuditEntry
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory
from memoryhub.lib.ids import short_id
from tests.conftest import ApiClient
from tests.factories import make_key, remember

pytestmark = pytest.mark.django_db


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return unescape(response.content.decode())


@pytest.fixture
def busy(access: Access, browser: Client) -> str:
    """Something by a person, by a key and by the hub; the key's id."""
    key, secret = make_key(access, name="robot")
    ApiClient(secret).send("POST", "/memories", {"content": "By the robot."})
    archive_memory(access, remember(access, "By the hub.").pk)
    browser.post(
        "/memories/new/", {"content": "By Alice.", "bank": "work", "type": "fact", "importance": "3", "confidence": "3"}
    )
    return str(key.pk)


def test_each_filter_narrows_and_all_of_them_together(browser: Client, busy: str):
    with CaptureQueriesContext(connection) as asked:
        everything = page(browser, "/activity/")
    assert len(asked) <= 15
    for text in ("By the robot.", "By the hub.", "By Alice."):
        assert text in everything
    by_browser = page(browser, "/activity/?door=browser")
    assert "By Alice." in by_browser
    assert "By the robot." not in by_browser
    by_robot = page(browser, f"/activity/?who=key:{busy}")
    assert "By the robot." in by_robot
    assert "By the hub." not in by_robot
    archived = page(browser, "/activity/?door=job&action=archive_memory")
    assert "“By the hub.”" in archived
    assert "By Alice." not in archived
    assert "Nothing like that" in page(browser, "/activity/?door=browser&action=archive_memory")


def test_everything_of_one_request(browser: Client, busy: str):
    request_id = AuditEntry.objects.get(actor_id=busy, action="write_memory").request_id
    html = page(browser, f"/activity/?request={request_id}")
    assert "By the robot." in html
    assert "By Alice." not in html
    assert f'value="{request_id}"' in html


def test_nonsense_is_no_fault(browser: Client, busy: str):
    for query in ("door=x", "who=x", "who=key:", "before=x", "request=" + "x" * 500):
        assert browser.get(f"/activity/?{query}").status_code == 200


def test_what_was_erased_has_no_link_that_leads_nowhere(browser: Client, access: Access):
    """The lines of a memory that is gone name it by its id; those of the others lead to it."""
    stays, goes = remember(access, "It stays."), remember(access, "It goes.")
    archive_memory(access, stays.pk)
    update_memory(access, goes.pk, MemoryChanges(content="It goes soon."))
    erase_memory(access, goes.pk)
    html = page(browser, "/activity/")
    assert f'href="/memories/{stays.pk}/"' in html
    assert f"edited memory {short_id(goes.pk)}" in html
    assert f"erased memory {short_id(goes.pk)}" in html
    assert str(goes.pk) not in html

"""What only a script sends: the answer is a sentence, nothing is changed, and nobody is led away."""

from __future__ import annotations

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.rules.limits import CONTENT_MAX
from memories.services.editing import update_memory
from memoryhub.lib.errors import Invalid
from tests.factories import remember

pytestmark = pytest.mark.django_db
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"
HUGE = "9" * 5_000


@pytest.mark.parametrize("name", ["min_importance", "limit", "cursor", "created_after", "created_before", "age"])
@pytest.mark.parametrize("value", [HUGE, "²", "-1", "٣x"])
def test_a_number_nobody_means_is_left_out_of_the_list(browser: Client, access: Access, name: str, value: str):
    remember(access, "Still listed.")
    answer = browser.get("/memories/", {name: value})
    assert answer.status_code == 200
    assert "Still listed." in answer.content.decode()


def test_the_least_importance_is_still_asked_for(browser: Client, access: Access):
    remember(access, "Of no weight.", importance=2)
    remember(access, "Of some weight.", importance=4)
    html = browser.get("/memories/?min_importance=4").content.decode()
    assert "Of some weight." in html
    assert "Of no weight." not in html


@pytest.mark.parametrize("value", [HUGE, "²", "-1", "one", "1.0"])
def test_a_version_that_is_none_restores_nothing(browser: Client, access: Access, value: str):
    memory = remember(access, "First.")
    update_memory(access, memory.pk, MemoryChanges(content="Second."))
    answer = browser.post(f"/memories/{memory.pk}/versions/1/restore/", {"version": value}, follow=True)
    assert answer.status_code == 200
    assert "names no version" in unescape(answer.content.decode())
    assert Memory.objects.get(pk=memory.pk).content == "Second."


@pytest.mark.parametrize("address", ["/activity/?before=" + HUGE, "/jobs/?state=" + HUGE])
def test_other_lists_take_any_address(browser: Client, address: str):
    assert browser.get(address).status_code == 200


@pytest.mark.parametrize(
    "path", ["//elsewhere.example/x", "/\\elsewhere.example", "///elsewhere.example", "/http://elsewhere.example"]
)
def test_a_refused_form_leads_nowhere_else(browser: Client, access: Access, path: str):
    memory = remember(access, "First.")
    headers = {"Referer": f"http://testserver{path}"}
    sent = {"version": "none"}
    answer = browser.post(f"/memories/{memory.pk}/versions/1/restore/", sent, headers=headers)
    assert answer.status_code == 303
    assert answer["Location"] in ("/", "/http://elsewhere.example")
    headers = {"Referer": "http://testserver/memories/?q=x"}
    answer = browser.post(f"/memories/{memory.pk}/versions/1/restore/", sent, headers=headers)
    assert answer["Location"] == "/memories/?q=x"


def test_who_may_not_write_gets_no_form(vault: object, viewer: User, access: Access):
    memory = remember(access, "Read only.")
    client = Client()
    client.force_login(viewer, backend=LOGIN)
    for address in ("/memories/new/", f"/memories/{memory.pk}/edit/"):
        for answer in (client.get(address), client.post(address, {"content": "Mine now."})):
            assert answer.status_code == 403
            assert "<textarea" not in answer.content.decode()


def test_line_ends_of_a_program_survive_an_edit_of_something_else(browser: Client, access: Access):
    memory = remember(access, "One.\r\nTwo.\rThree.")
    stored = memory.content
    address = f"/memories/{memory.pk}/edit/"
    sent = {"bank": "general", "type": "fact", "importance": "3", "confidence": "3", "version": "1"}
    sent["content"] = "One.\r\nTwo.\r\nThree."
    browser.post(address, sent)
    assert Memory.objects.get(pk=memory.pk).version == 1, "nothing differed"
    browser.post(address, sent | {"importance": "5"})
    after = Memory.objects.get(pk=memory.pk)
    assert (after.version, after.importance, after.content) == (2, 5, stored)


def test_a_text_that_is_too_long_is_measured_in_characters(browser: Client, vault: object):
    sent = {"bank": "general", "type": "fact", "importance": "3", "confidence": "3", "content": "a" * (CONTENT_MAX + 1)}
    answer = browser.post("/memories/new/", sent)
    assert answer.status_code == 422
    assert f"{CONTENT_MAX} characters" in answer.content.decode()
    with pytest.raises(Invalid) as refused:
        MemoryChanges.parse({"content": "a" * (CONTENT_MAX + 1)})
    assert f"at most {CONTENT_MAX} characters" in refused.value.errors[0].detail

"""The admin shows every model, edits none past the services, and opens text only for members."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from banks.access import Access
from banks.models import Membership
from memories.models import Job, Memory
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from tests.factories import remember

pytestmark = pytest.mark.django_db
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"
MODELS = [*apps.get_app_config("memories").get_models(), *apps.get_app_config("banks").get_models()]


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password="x" * 16)


@pytest.fixture
def office(root: User) -> Client:
    """A superuser who is a member of no vault."""
    client = Client()
    client.force_login(root, backend=LOGIN)
    return client


@pytest.fixture
def member(office: Client, root: User, access: Access) -> Client:
    """The same person as a member of the vault."""
    Membership.objects.create(vault=access.vault, user=root, role="owner")
    return office


def listed(client: Client, model: str, query: str = "") -> str:
    response = client.get(f"/admin/{model}/{query}")
    assert response.status_code == 200
    return unescape(response.content.decode())


def through(model: type) -> str:
    return f"{model._meta.app_label}/{model._meta.model_name}"  # type: ignore[attr-defined]


def test_every_model_is_registered():
    generated = {model for model in MODELS if model._meta.auto_created}
    assert set(MODELS) - generated <= set(admin.site._registry)


@pytest.mark.parametrize("model", MODELS, ids=through)
def test_every_list_and_row_can_be_looked_at(member: Client, access: Access, model: type):
    memory = remember(access, "Looked at.", supersedes=str(remember(access, "Older.").pk))
    update_memory(access, memory.pk, MemoryChanges(importance=5))
    html = listed(member, through(model))
    row = re.search(r'<th class="field-[^>]*><a href="([^"]+)"', html)
    if row:
        assert member.get(row[1]).status_code == 200
    for query in ("?q=nothing", "?q=01a1fdf4-2f67-7435-b7d0-7abfca36a300", "?q=7", "?_facets=True"):
        listed(member, through(model), query)


def test_text_is_opened_for_members_only(office: Client, root: User, access: Access):
    memory = remember(access, "Between us.")
    for address in ("memories/memory", f"memories/memory/{memory.pk}/change"):
        html = listed(office, address)
        assert "Between us." not in html
        assert "sealed" in html
    Membership.objects.create(vault=access.vault, user=root, role="viewer")
    for address in ("memories/memory", f"memories/memory/{memory.pk}/change"):
        assert "Between us." in listed(office, address)


def test_staff_who_are_no_superusers_read_no_text(access: Access, owner: User, browser: Client):
    remember(access, "Between us.")
    owner.is_staff = True
    owner.save()
    assert browser.get("/admin/memories/memory/").status_code == 403


def test_nothing_is_added_edited_or_deleted(member: Client, access: Access):
    memory = remember(access, "Stays as it is.")
    assert member.get("/admin/memories/memory/add/").status_code == 403
    assert member.get(f"/admin/memories/memory/{memory.pk}/delete/").status_code == 403
    assert member.post(f"/admin/memories/memory/{memory.pk}/change/", {"importance": 1}).status_code == 403
    assert "delete_selected" not in listed(member, "memories/memory")
    assert Memory.objects.get(pk=memory.pk).importance == 3


def act(client: Client, model: str, action: str, *rows: object) -> str:
    sent = {"action": action, "_selected_action": [str(row) for row in rows]}
    return unescape(client.post(f"/admin/{model}/", sent, follow=True).content.decode())


def test_actions_call_the_services(member: Client, access: Access):
    first, second = remember(access, "One."), remember(access, "Two.")
    assert "Done: 2." in act(member, "memories/memory", "archive", first.pk, second.pk)
    memory = Memory.objects.get(pk=first.pk)
    assert (memory.archived, memory.version, memory.revisions.count()) == (True, 2, 1)
    assert "Done: 1." in act(member, "memories/memory", "restore", first.pk)
    assert not Memory.objects.get(pk=first.pk).archived


def test_actions_in_foreign_vaults_do_nothing_and_say_so(office: Client, access: Access):
    memory = remember(access, "Not yours.")
    assert "Not done: 1." in act(office, "memories/memory", "archive", memory.pk)
    assert not Memory.objects.get(pk=memory.pk).archived


def test_jobs_are_retried(member: Client, access: Access):
    job = Job.objects.create(vault=access.vault, kind="embed_memories", state="dead", attempts=5)
    assert "Done: 1." in act(member, "memories/job", "retry", job.pk)
    job.refresh_from_db()
    assert job.state == "pending"


def test_search_finds_by_whole_ids(member: Client, access: Access):
    memory = remember(access, "Found by its id.", external_write_id="ext-1")
    remember(access, "Something else.")
    for term in (str(memory.pk), "ext-1"):
        html = listed(member, "memories/memory", f"?q={term}")
        assert "Found by its id." in html
        assert "Something else." not in html


def test_more_rows_cost_no_more_queries(member: Client, access: Access):
    def cost() -> int:
        with CaptureQueriesContext(connection) as asked:
            listed(member, "memories/memory")
        return len(asked)

    for number in range(3):
        remember(access, f"Row {number}.")
    few = cost()
    for number in range(3, 9):
        remember(access, f"Row {number}.")
    assert cost() == few


def test_reverse_of_every_list():
    for model in MODELS:
        if not model._meta.auto_created:
            assert reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")

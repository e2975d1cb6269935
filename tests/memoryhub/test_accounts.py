"""One door for passwords: the hub's own login, for the admin too; nothing that needs mail is there."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
LOGIN = "/accounts/login/"


@pytest.fixture(autouse=True)
def _no_attempts_so_far() -> None:
    cache.clear()


def made(name: str, **more: Any) -> User:
    return User.objects.create_user(name, password=PASSWORD, **more)


def signed_in(name: str, after: str = "/admin/") -> Client:
    client = Client()
    sent = {"login": name, "password": PASSWORD}
    assert client.post(f"{LOGIN}?next={after}", sent | {"next": after})["Location"] == after
    return client


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("address", ["/admin/", "/admin/login/", "/admin/login/?next=/admin/memories/memory/"])
def test_the_admin_has_no_password_form_of_its_own(client: Client, method: str, address: str):
    made("root", is_staff=True, is_superuser=True)
    answer = getattr(client, method)(address, {"username": "root", "password": PASSWORD} if method == "post" else None)
    if answer["Location"].startswith("/admin/login/"):
        answer = client.get(answer["Location"])
    assert answer["Location"].startswith(f"{LOGIN}?next=/admin/")
    assert "_auth_user_id" not in client.session


def test_guessing_at_the_admin_meets_the_limit_of_the_login(client: Client):
    made("root", is_staff=True, is_superuser=True)
    door = client.get("/admin/login/")["Location"]
    for number in range(5):
        client.post(door, {"login": "root", "password": f"guess {number}"})
    client.post(door, {"login": "root", "password": PASSWORD})
    assert "_auth_user_id" not in client.session


def test_superusers_enter_and_others_are_told_why_not():
    made("root", is_staff=True, is_superuser=True)
    made("clerk", is_staff=True)
    made("alice")
    entered = signed_in("root").get("/admin/")
    assert entered.status_code == 200
    assert "Memory indexes" in entered.content.decode()
    assert signed_in("root").get("/admin/login/?next=//elsewhere.example/")["Location"] == "/admin/"
    for name in ("clerk", "alice"):
        for address in ("/admin/", "/admin/login/", "/admin/memories/memory/"):
            refused = signed_in(name).get(address)
            assert refused.status_code == 403, (name, address)
            assert "The admin is for superusers" in refused.content.decode()


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "page",
    [
        "password/reset/", "password/reset/done/", "password/reset/key/1-abc/", "password/set/", "signup/", "email/",
        "confirm-email/", "confirm-email/abc/", "inactive/", "reauthenticate/", "login/code/confirm/", "login/code/",
    ],
)  # fmt: skip
def test_what_needs_mail_or_registration_is_not_there(client: Client, method: str, page: str):
    made("alice", email="alice@example.org")
    answer = getattr(client, method)(f"/accounts/{page}", {"email": "alice@example.org"} if method == "post" else None)
    assert answer.status_code == 404
    assert mail.outbox == []


def test_a_password_is_changed_on_a_page_of_ours():
    made("root", is_staff=True, is_superuser=True)
    client = signed_in("root")
    assert client.get("/admin/password_change/")["Location"] == "/accounts/password/change/"
    html = client.get("/accounts/password/change/").content.decode()
    assert "Change password" in html
    assert "reset" not in html
    new = "another long password"
    sent = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert client.post("/accounts/password/change/", sent).status_code == 302
    assert User.objects.get(username="root").check_password(new)


def test_an_account_that_is_switched_off_is_told_so(client: Client):
    made("alice", is_active=False)
    answer = client.post(LOGIN, {"login": "alice", "password": PASSWORD})
    assert answer.status_code == 403
    assert "switched off" in answer.content.decode()

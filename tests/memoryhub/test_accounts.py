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


def tried(client: Client, password: str, name: str = "alice", address: str = "127.0.0.1") -> bool:
    """Whether somebody at that address got in."""
    client.post(LOGIN, {"login": name, "password": password}, REMOTE_ADDR=address)
    return "_auth_user_id" in client.session


def known(name: str = "alice") -> Client:
    """A browser somebody signed in with, and out again."""
    client = signed_in(name, "/")
    client.post("/accounts/logout/")
    assert "_auth_user_id" not in client.session
    return client


def test_a_stranger_elsewhere_locks_nobody_out(client: Client):
    """S11: a name is counted for each address, so the fifth wrong guess shuts that address only."""
    made("alice")
    for number in range(6):
        assert not tried(Client(), f"guess {number}", address="10.0.0.9")
    assert not tried(Client(), PASSWORD, address="10.0.0.9")
    assert tried(client, PASSWORD)


def test_a_known_browser_enters_whatever_strangers_do_beside_it():
    """S11: also from the same address, as all have behind a proxy, and beyond every limit of that address."""
    made("alice")
    own = known()
    for number in range(35):
        assert not tried(Client(), f"guess {number}")
    assert not tried(Client(), PASSWORD)
    assert tried(own, PASSWORD)


def test_guessing_from_many_addresses_is_bounded():
    """S11: strangers get 50 tries an hour at a name in all, whatever each address has left."""
    made("alice")
    own = known()
    for number in range(50):
        assert not tried(Client(), f"guess {number}", address=f"10.0.{number}.1")
    assert not tried(Client(), PASSWORD, address="10.1.0.1")
    assert tried(own, PASSWORD, address="10.2.0.1")


def test_a_known_browser_guesses_no_more_than_a_stranger():
    """S11: what it tries is counted too, for itself, and its mark is for its own name."""
    made("alice")
    made("bob")
    own = known()
    for number in range(5):
        assert not tried(own, f"guess {number}")
    assert not tried(own, PASSWORD)
    assert tried(Client(), PASSWORD)
    for number in range(5):
        tried(Client(), f"guess {number}", name="bob")
    assert not tried(own, PASSWORD, name="bob")


def test_what_a_browser_is_known_by_is_not_made_up(client: Client):
    """S11: the cookie is signed, sent to the login only, and out of reach of scripts."""
    made("alice")
    cookie = known().cookies["memoryhub_known"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (LOGIN, True, "Lax")
    for number in range(5):
        tried(client, f"guess {number}")
    for forged in (cookie.value[:-1] + "x", "e30:1:x", "\x00", "alice"):
        stranger = Client()
        stranger.cookies["memoryhub_known"] = forged
        assert not tried(stranger, PASSWORD)

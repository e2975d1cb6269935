"""What a person chooses for one browser is kept in cookies and read on the server, so that nothing flickers."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import NoReverseMatch

from banks.models import Vault
from banks.web import shell

pytestmark = pytest.mark.django_db


def home(client: Client) -> str:
    response = client.get("/banks/")
    assert response.status_code == 200
    return response.content.decode()


def test_the_density_is_remembered_and_read_on_the_server(browser: Client, vault: Vault):
    assert "data-density" not in home(browser)
    response = browser.post("/preferences/density/", {"density": "compact", "next": "/memories/?q=a"})
    assert (response.status_code, response["Location"]) == (303, "/memories/?q=a")
    assert 'data-density="compact"' in home(browser)
    browser.post("/preferences/density/", {"density": "<script>"})
    assert "data-density" not in home(browser)


def test_a_preference_is_not_changed_by_looking(browser: Client, vault: Vault):
    for name in ("density", "theme", "shortcuts"):
        assert browser.get(f"/preferences/{name}/").status_code == 405


def test_single_keys_can_be_turned_off(browser: Client, vault: Vault):
    """WCAG 2.1.4."""
    assert 'data-shortcuts="on"' in home(browser)
    browser.post("/preferences/shortcuts/", {"shortcuts": "off"})
    assert 'data-shortcuts="off"' in home(browser)


def test_a_place_no_room_offers_is_left_out(browser: Client, vault: Vault, monkeypatch: pytest.MonkeyPatch):
    def reverse(name: str, **_: object) -> str:
        if name == "agents":
            raise NoReverseMatch
        return f"/{name}/"

    assert 'href="/agents/"' in home(browser)
    monkeypatch.setattr(shell, "reverse", reverse)
    assert 'href="/agents/"' not in home(browser)

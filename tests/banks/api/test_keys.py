"""API keys over HTTP: shown once, never wider than their maker, ended at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from banks.access import KeyScope
from banks.models import ApiKey
from memoryhub.lib import ids
from tests.conftest import ApiClient

READ = {"name": "reader", "scopes": ["memories:read"]}


@pytest.fixture
def back_from_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids made while travelling ahead would keep all later ones there, for their clock never runs backwards."""
    monkeypatch.setattr(ids, "_last_ticks", ids._last_ticks)


def test_a_secret_is_shown_once_and_stored_nowhere(api: ApiClient):
    made = api.send("POST", "/keys", READ)
    assert made.status_code == 201
    secret = made.json()["key"]
    assert secret.startswith(made.json()["prefix"] + "_")
    assert ApiClient(secret).send("GET", "/memories").status_code == 200
    key_id = made.json()["id"]
    for path in ("/keys", f"/keys/{key_id}"):
        assert secret not in api.send("GET", path).content.decode()
        assert '"key"' not in api.send("GET", path).content.decode()
    row = ApiKey.objects.get(pk=key_id)
    assert secret not in json.dumps({name: str(value) for name, value in vars(row).items()})


def test_a_key_reaches_only_its_banks(api: ApiClient):
    api.send("POST", "/memories", {"content": "At work.", "bank": "Work"})
    api.send("POST", "/memories", {"content": "At home.", "bank": "Personal"})
    limited = ApiClient(api.send("POST", "/keys", {**READ, "banks": ["work"]}).json()["key"])
    assert [item["content"] for item in limited.send("GET", "/memories").json()["items"]] == ["At work."]
    assert [bank["name"] for bank in limited.send("GET", "/banks").json()["items"]] == ["Work"]
    assert limited.send("GET", "/memories?bank=Personal").status_code == 422
    assert len(limited.send("GET", "/whoami").json()["bank_ids"]) == 1


def test_a_key_cannot_make_a_wider_one(api_with: Callable[..., ApiClient]):
    narrow = api_with(KeyScope.KEYS_ADMIN, KeyScope.MEMORIES_READ)
    assert narrow.send("POST", "/keys", READ).status_code == 201
    refused = narrow.send("POST", "/keys", {"name": "wide", "scopes": ["memories:read", "memories:erase"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "wider_than_creator")
    assert refused.json()["scopes"] == ["memories:erase"]


def test_rotation_overlaps_and_revocation_does_not_wait(api: ApiClient, back_from_the_future: None):
    made = api.send("POST", "/keys", READ).json()
    rotated = api.send("POST", f"/keys/{made['id']}/rotate", {"overlap_hours": 2})
    assert rotated.status_code == 201
    assert rotated.json()["rotated_from"] == made["id"]
    old, new = ApiClient(made["key"]), ApiClient(rotated.json()["key"])
    assert old.send("GET", "/memories").status_code == new.send("GET", "/memories").status_code == 200
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=3)):
        assert old.send("GET", "/memories").status_code == 401
        assert new.send("GET", "/memories").status_code == 200
    assert api.send("DELETE", f"/keys/{rotated.json()['id']}").status_code == 204
    assert api.send("DELETE", f"/keys/{rotated.json()['id']}").status_code == 204
    assert new.send("GET", "/memories").status_code == 401
    assert api.send("POST", f"/keys/{rotated.json()['id']}/rotate").status_code == 409


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["root"]},
        {**READ, "banks": ["Garage"]},
        {**READ, "agent": "nobody"},
        {**READ, "expires_at": "2001-01-01T00:00:00Z"},
        {**READ, "expires_at": "soon"},
        {**READ, "expires_at": "9999-12-31T23:59:59-23:00"},
        {**READ, "admin": True},
    ],
)
def test_a_key_that_cannot_be_is_refused(api: ApiClient, body: dict[str, Any]):
    before = len(api.send("GET", "/keys").json()["items"])
    assert api.send("POST", "/keys", body).status_code == 422
    assert len(api.send("GET", "/keys").json()["items"]) == before

"""Who a key is."""

from __future__ import annotations

from banks.access import ALL_SCOPES
from banks.models import Vault
from tests.conftest import ApiClient


def test_a_key_learns_its_vault_and_its_scopes(api: ApiClient, vault: Vault):
    me = api.send("GET", "/whoami").json()
    assert me["vault"] == {"id": str(vault.pk), "name": vault.name}
    assert me["scopes"] == sorted(ALL_SCOPES)
    assert me["actor"]["kind"] == "key"
    assert (me["agent"], me["bank_ids"]) == (None, None)

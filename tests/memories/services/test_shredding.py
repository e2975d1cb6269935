"""A shredded vault: its keys are gone everywhere, its rows too, and everybody is told so."""

from __future__ import annotations

import io

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from banks.access import access_from_user, system_access
from banks.access.keyring import VaultShredded, _unwrapped
from banks.models import AuditEntry, Vault, VaultKey
from banks.services.shredding import OwnersOnly, destroy_data_keys
from memories.models import ErasureReceipt, Memory
from memories.services.shredding import holds_for_hub, shred_vault
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import access_of, converse, make_key, remember

pytestmark = pytest.mark.django_db


def test_nothing_is_left_but_the_audit_and_a_receipt(access, other_access):
    """CON-17: texts, vectors, token hashes and labels; and nothing of another vault."""
    remember(access, "the canary sings", tags=["canary"])
    converse(access, "tuesday", "a canary")
    kept = remember(other_access, "another's")
    receipt = shred_vault(access, access.vault.name)
    for model in apps.get_app_config("memories").get_models():
        if model is not ErasureReceipt and any(field.name == "vault" for field in model._meta.fields):
            assert not model._default_manager.filter(vault=access.vault).exists(), model
    assert receipt.removed["data_keys"] == 1
    assert receipt.removed["memories"] == 1
    assert holds_for_hub(ErasureReceipt.objects.get(pk=receipt.pk))
    assert AuditEntry.objects.filter(vault=access.vault, action="shred_vault").count() == 1
    assert Memory.objects.get().content == kept.content


def test_keys_and_people_are_told(access, owner, client):
    """DEF-10: a clear refusal, not a fault; the key material is in no cache of this process."""
    _, secret = make_key(access)
    shred_vault(access, access.vault.name)
    assert not VaultKey.objects.filter(vault=access.vault).exists()
    assert _unwrapped.cache_info().currsize == 0
    with pytest.raises(VaultShredded):
        access_of(secret)
    with pytest.raises(VaultShredded):
        system_access(access.vault_id)
    with pytest.raises(NotFound):
        access_from_user(owner, access.vault_id, "r")
    answer = client.get("/api/v1/memories", headers={"Authorization": f"Bearer {secret}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "vault_shredded")


def test_only_owners_who_type_the_name(access, owner, viewer):
    """ENC: neither a key with every scope, nor a reader, nor a slip of the hand."""
    with pytest.raises(OwnersOnly):
        destroy_data_keys(access_of(make_key(access)[1]), access.vault.name)
    with pytest.raises(OwnersOnly):
        destroy_data_keys(access_from_user(viewer, access.vault_id, "r"), access.vault.name)
    with pytest.raises(Invalid):
        destroy_data_keys(access_from_user(owner, access.vault_id, "r"), "home")
    assert VaultKey.objects.filter(vault=access.vault).exists()


def test_the_command_asks_for_the_name(access):
    with pytest.raises(CommandError):
        call_command("shred_vault", access.vault.name, confirm="something else", stdout=io.StringIO())
    told = io.StringIO()
    call_command("shred_vault", access.vault.name, confirm=access.vault.name, stdout=told)
    assert "shredded" in told.getvalue()
    assert Vault.objects.get(pk=access.vault_id).shredded_at is not None

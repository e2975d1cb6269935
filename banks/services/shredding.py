"""Destroy a vault's data keys: what was sealed under them is unreadable from that moment, wherever a copy lies."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from banks.access import ALL_SCOPES, Access
from banks.access.keyring import forget_keys, master_keys
from banks.models import Vault, VaultKey
from banks.services.audit import Audited, record_audit
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import keyed_hash
from memoryhub.lib.errors import Denied, FieldError, Invalid


class OwnersOnly(Denied):
    """Only an owner of the vault, or its operator at a terminal, can destroy its keys; no API key can."""

    code = "owners_only"


def destroy_data_keys(access: Access, typed_name: str) -> int:
    """Destroy all versions of the vault's data key; how many there were. For its owners; cannot be undone.

    Raises OwnersOnly, Invalid unless ``typed_name`` is the vault's name.
    """
    if access.actor.kind == "key" or not access.scopes >= ALL_SCOPES:
        raise OwnersOnly
    if typed_name.strip() != access.vault.name:
        raise Invalid(errors=[FieldError("/name", "wrong_name", "is not the name of this vault")])
    with transaction.atomic():
        destroyed = VaultKey.objects.filter(vault_id=access.vault_id).delete()[0]
        Vault.objects.filter(pk=access.vault_id).update(shredded_at=now(), config_version=F("config_version") + 1)
        record_audit(access, Audited("shred_vault", "vault", access.vault_id))
    forget_keys()
    return destroyed


def sign_for_hub(text: bytes) -> bytes:
    """A signature of the hub's own, by its active master key: what a vault without keys cannot sign any more."""
    keys = master_keys()
    return keyed_hash(keys.get(keys.active), b"hub receipt 1\0" + text)

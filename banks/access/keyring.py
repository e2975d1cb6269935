"""From wrapped data keys to a vault's sub-keys, and the check that the master keys are the right ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from uuid import UUID

from banks.models import KeyCheck, Vault, VaultKey
from memoryhub.env import secrets
from memoryhub.lib.crypto import (
    CryptoError,
    DecryptionError,
    MasterKeys,
    VaultKeys,
    key_version,
    new_key,
    same,
    vault_keys,
)


class WrongKey(CryptoError):
    """A master key is not the one this store was sealed with; bring back the right one and start again."""

    code = "wrong_key"


class VaultShredded(CryptoError):
    """The vault's data key was destroyed; nothing that was sealed in it can be read any more."""

    code = "vault_shredded"


@cache
def master_keys() -> MasterKeys:
    """The configured master keys. Raises SecretsMissing or CryptoError."""
    found = secrets()
    return MasterKeys(keys=found.keys, active=found.active)


@lru_cache(maxsize=4096)
def _unwrapped(vault_id: UUID, wrapped: bytes) -> bytes:
    return master_keys().unwrap(wrapped, vault_id.bytes)


def keys_of_vault(vault_id: UUID, data_keys: Iterable[VaultKey] | None = None) -> VaultKeys:
    """The vault's sub-keys. Raises VaultShredded when it has none, UnknownKey when its master key is missing."""
    rows = VaultKey.objects.filter(vault_id=vault_id) if data_keys is None else data_keys
    versions = tuple((row.version, _unwrapped(vault_id, bytes(row.wrapped))) for row in rows)
    if not versions:
        raise VaultShredded
    return vault_keys(tuple(sorted(versions)))


def add_data_key(vault: Vault, version: int = 1) -> VaultKey:
    """A fresh data key for a vault, wrapped by the active master key."""
    wrapped = master_keys().wrap(new_key(), vault.pk.bytes)
    return VaultKey.objects.create(vault=vault, version=version, master_key_id=key_version(wrapped), wrapped=wrapped)


def verify_master_keys() -> None:
    """Compare every needed master key with what the store remembers; remember new ones.

    Raises UnknownKey when a key that wraps data is missing, WrongKey when one has changed; both name the key id.
    """
    keys = master_keys()
    checks = {check.pk: bytes(check.value) for check in KeyCheck.objects.all()}
    needed = set(VaultKey.objects.values_list("master_key_id", flat=True).distinct())
    for key_id in sorted(needed | (checks.keys() & keys.keys.keys())):
        fits = same(keys.check_value(key_id), checks[key_id]) if key_id in checks else _unwraps(keys, key_id)
        if not fits:
            raise WrongKey(
                f"Encryption key {key_id} is not the one this store was sealed with; "
                "bring back the right key in MEMORYHUB_KEYS (or keys.json) and start again."
            )
    KeyCheck.objects.bulk_create(
        [KeyCheck(id=key_id, value=keys.check_value(key_id)) for key_id in keys.keys if key_id not in checks],
        ignore_conflicts=True,
    )


def _unwraps(keys: MasterKeys, key_id: int) -> bool:
    """Whether the key opens what it is said to wrap: all there is to go by in a store without checks."""
    row = VaultKey.objects.filter(master_key_id=key_id).first()
    try:
        return row is None or bool(keys.unwrap(bytes(row.wrapped), row.vault_id.bytes))
    except DecryptionError:
        return False

"""From wrapped data keys to a vault's sub-keys, and the check that the master keys are the right ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from time import monotonic
from uuid import UUID

from banks.models import KeyCheck, Vault, VaultKey
from memoryhub.env import reread_secrets, secrets
from memoryhub.lib.blindindex import forget_hashes
from memoryhub.lib.crypto import (
    ROOTS_VERSION,
    CryptoError,
    DecryptionError,
    MasterKeys,
    UnknownKey,
    VaultKeys,
    forget_derived,
    key_version,
    new_key,
    same,
    vault_keys,
)
from memoryhub.lib.errors import Kind


class WrongKey(CryptoError):
    """A master key is not the one this store was sealed with; bring back the right one and start again."""

    code = "wrong_key"


class VaultShredded(CryptoError):
    """The vault's data key was destroyed; nothing that was sealed in it can be read any more, and nothing written."""

    code = "vault_shredded"
    kind = Kind.DENIED


@cache
def master_keys() -> MasterKeys:
    """The configured master keys. Raises SecretsMissing or CryptoError."""
    found = secrets()
    return MasterKeys(keys=found.keys, active=found.active)


def reread_master_keys() -> MasterKeys:
    """The configured master keys as the files say now: one may have been added since this process started."""
    reread_secrets()
    master_keys.cache_clear()
    return master_keys()


@lru_cache(maxsize=4096)
def _unwrapped(vault_id: UUID, wrapped: bytes) -> bytes:
    try:
        return master_keys().unwrap(wrapped, vault_id.bytes)
    except UnknownKey:
        return reread_master_keys().unwrap(wrapped, vault_id.bytes)


def forget_keys() -> None:
    """Drop every key this process remembers, and what was derived from them; they are worked out anew when needed."""
    _unwrapped.cache_clear()
    forget_derived()
    forget_hashes()


class _Memory:
    """How long a process may remember keys: one that was destroyed leaves all of them, whoever destroyed it."""

    KEPT_SECONDS = 300.0
    since = 0.0

    @classmethod
    def fade(cls) -> None:
        if (at := monotonic()) - cls.since > cls.KEPT_SECONDS:
            cls.since = at
            forget_keys()


def keys_of_vault(vault_id: UUID, data_keys: Iterable[VaultKey] | None = None) -> VaultKeys:
    """The vault's sub-keys. Raises VaultShredded when it has none, UnknownKey when its master key is missing."""
    _Memory.fade()
    rows = VaultKey.objects.filter(vault_id=vault_id) if data_keys is None else data_keys
    versions = tuple((row.version, _unwrapped(vault_id, bytes(row.wrapped))) for row in rows)
    if all(version == ROOTS_VERSION for version, _ in versions):
        raise VaultShredded
    return vault_keys(tuple(sorted(versions)))


def add_data_key(vault: Vault, version: int = 1) -> VaultKey:
    """A fresh data key for a vault, wrapped by the active master key."""
    wrapped = master_keys().wrap(new_key(), vault.pk.bytes)
    return VaultKey.objects.create(vault=vault, version=version, master_key_id=key_version(wrapped), wrapped=wrapped)


def add_next_data_key(vault: Vault) -> VaultKey:
    """The data key that seals from the moment this transaction commits; those before it still open.

    The sub-keys that must outlive them are kept by themselves from the first time on.
    """
    versions = list(
        VaultKey.objects.select_for_update(no_key=True).filter(vault=vault).values_list("version", flat=True)
    )
    if ROOTS_VERSION not in versions:
        wrapped = master_keys().wrap(keys_of_vault(vault.pk).roots, vault.pk.bytes)
        VaultKey.objects.create(vault=vault, version=ROOTS_VERSION, master_key_id=key_version(wrapped), wrapped=wrapped)
    return add_data_key(vault, max(versions) + 1)


def rewrap_data_keys(vault_id: UUID) -> int:
    """Wrap the vault's keys with the active master key; how many were under another. Raises UnknownKey."""
    keys, changed = master_keys(), 0
    for row in (
        VaultKey.objects.select_for_update(no_key=True).filter(vault_id=vault_id).exclude(master_key_id=keys.active)
    ):
        row.wrapped = keys.wrap(keys.unwrap(bytes(row.wrapped), vault_id.bytes), vault_id.bytes)
        row.master_key_id = keys.active
        row.save(update_fields=["wrapped", "master_key_id"])
        changed += 1
    return changed


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

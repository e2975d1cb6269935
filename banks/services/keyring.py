"""Checks of the master keys that starting processes make, and their rotation."""

from __future__ import annotations

from django.db import transaction

from banks.access import system_access
from banks.access.keyring import master_keys, reread_master_keys, rewrap_data_keys, verify_master_keys
from banks.models import Vault, VaultKey
from banks.services.audit import Audited, record_audit


def verify_keys() -> None:
    """Refuse to go on with a missing or wrong master key.

    Raises SecretsMissing, UnknownKey or WrongKey; the last two name the key id.
    """
    verify_master_keys()


def active_master_key() -> int:
    """The id of the master key that wraps new data keys, as the files say now. Raises as above."""
    active = reread_master_keys().active
    verify_master_keys()
    return active


def wrapped_otherwise() -> int:
    """How many data keys are wrapped by another master key than the active one."""
    return VaultKey.objects.exclude(master_key_id=master_keys().active).count()


def rotate_master_key() -> int:
    """Wrap every data key by the active master key; how many were under another. Call it inside ``gate.session()``.

    Quick, since nothing is sealed anew: a commit for each vault, and searches notice nothing. Raises as above.
    """
    active_master_key()
    changed = 0
    for vault in Vault.objects.filter(data_keys__isnull=False).distinct():
        with transaction.atomic():
            rewrapped = rewrap_data_keys(vault.pk)
            if rewrapped:
                record_audit(system_access(vault.pk), Audited("rotate_master_key", "vault", vault.pk))
        changed += rewrapped
    return changed


def unused_master_keys() -> list[int]:
    """Configured master keys that wrap nothing any more: only older backups need them."""
    used = set(VaultKey.objects.values_list("master_key_id", flat=True).distinct())
    return sorted(set(master_keys().keys) - used)

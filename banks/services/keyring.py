"""Checks of the master keys that starting processes make."""

from __future__ import annotations

from banks.access.keyring import verify_master_keys


def verify_keys() -> None:
    """Refuse to go on with a missing or wrong master key.

    Raises SecretsMissing, UnknownKey or WrongKey; the last two name the key id.
    """
    verify_master_keys()

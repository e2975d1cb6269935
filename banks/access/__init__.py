"""Proof of who may do what in which vault. Holding an ``Access`` is the permission."""

from __future__ import annotations

from banks.access.access import (
    Access,
    Actor,
    Door,
    WholeVaultNeeded,
    access_from_secret,
    access_from_user,
    acting_for,
    acting_under,
    mandate_of,
    mandate_stands,
    reaching_as,
    reopened,
    require_live,
    system_access,
    vaults_of,
)
from banks.access.scopes import ALL_SCOPES, ROLE_SCOPES, SCOPES_FOR, KeyScope
from banks.access.secret import InvalidKey

__all__ = [
    "ALL_SCOPES",
    "ROLE_SCOPES",
    "SCOPES_FOR",
    "Access",
    "Actor",
    "Door",
    "InvalidKey",
    "KeyScope",
    "WholeVaultNeeded",
    "access_from_secret",
    "access_from_user",
    "acting_for",
    "acting_under",
    "mandate_of",
    "mandate_stands",
    "reaching_as",
    "reopened",
    "require_live",
    "system_access",
    "vaults_of",
]

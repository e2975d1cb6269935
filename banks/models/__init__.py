"""Whose memory it is: vaults, banks, agents, keys, members, settings and the audit trail."""

from __future__ import annotations

from banks.models.agent import Agent, PreferredBank
from banks.models.audit import AuditEntry
from banks.models.bank import Bank
from banks.models.key import ApiKey, KeyBank
from banks.models.setting import SettingValue
from banks.models.vault import KeyCheck, Membership, MembershipRole, Vault, VaultKey

__all__ = [
    "Agent",
    "ApiKey",
    "AuditEntry",
    "Bank",
    "KeyBank",
    "KeyCheck",
    "Membership",
    "MembershipRole",
    "PreferredBank",
    "SettingValue",
    "Vault",
    "VaultKey",
]

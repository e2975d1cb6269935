"""The settings that hold for a caller: stored rows put through the rules. Reading only; changing is a service."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Q

from banks.access import Access
from banks.models import SettingValue
from memories.rules.layers import Effective, resolve
from memories.rules.settings import Level
from memoryhub.lib.statements import fetch

type Stored = dict[Level, dict[str, Any]]


def effective_settings(
    access: Access, bank_id: UUID | None = None, request: dict[str, Any] | None = None
) -> dict[str, Effective]:
    """Every setting with the value that holds for this caller (and bank), and the level that set it. One query."""
    return resolve(setting_layers(access, bank_id, request))


def config_version(vault_id: UUID) -> int:
    """The version of the vault's banks, settings and spaces at this moment; what is remembered is remembered by it."""
    rows = fetch("SELECT config_version FROM banks_vault WHERE id = %s", [vault_id])
    return int(rows[0][0]) if rows else 0


@lru_cache(maxsize=4_096)
def _remembered_rows(vault_id: UUID, version: int) -> tuple[SettingValue, ...]:
    return tuple(SettingValue.objects.filter(Q(vault_id=vault_id) | Q(level=Level.SYSTEM)))


def has_own_settings(vault_id: UUID, version: int, bank_id: UUID) -> bool:
    """Whether a bank says anything itself; most do not."""
    return any(row.level == Level.BANK and row.target == bank_id for row in _remembered_rows(vault_id, version))


def remembered_settings(access: Access, version: int, bank_id: UUID | None = None) -> dict[str, Any]:
    """Setting → value for this caller (and bank), as of a version of the vault's configuration: mostly no query."""
    heard = {Level.BANK: bank_id, Level.AGENT: access.agent.pk if access.agent else None}
    rows = _remembered_rows(access.vault_id, version)
    mine = [row for row in rows if row.target is None or row.target == heard.get(Level(row.level))]
    return {key: effective.value for key, effective in resolve(_grouped(mine)).items()}


def opened_settings(access: Access) -> dict[str, Any]:
    """Setting → value as of when this access was opened: for what is shown, mostly without a query."""
    return remembered_settings(access, access.vault.config_version)


def setting_layers(access: Access, bank_id: UUID | None, request: dict[str, Any] | None = None) -> Stored:
    """What each level says for this caller and bank. One query."""
    agent_id = access.agent.pk if access.agent else None
    mine = Q(vault_id=access.vault_id) & (
        Q(level=Level.VAULT) | Q(level=Level.BANK, target=bank_id) | Q(level=Level.AGENT, target=agent_id)
    )
    layers = _grouped(SettingValue.objects.filter(mine | Q(level=Level.SYSTEM)))
    return {**layers, Level.REQUEST: request} if request else layers


def _grouped(rows: Iterable[SettingValue]) -> Stored:
    layers: Stored = {}
    for row in rows:
        layers.setdefault(Level(row.level), {})[row.key] = row.value
    return layers

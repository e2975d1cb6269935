"""The settings that hold for a caller: stored rows put through the rules. Reading only; changing is a service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q

from banks.access import Access
from banks.models import SettingValue
from memories.rules.layers import Effective, resolve
from memories.rules.settings import Level

type Stored = dict[Level, dict[str, Any]]


def effective_settings(
    access: Access, bank_id: UUID | None = None, request: dict[str, Any] | None = None
) -> dict[str, Effective]:
    """Every setting with the value that holds for this caller (and bank), and the level that set it. One query."""
    return resolve(setting_layers(access, bank_id, request))


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

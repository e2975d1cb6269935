"""Settings: what holds, who said so, and changing one (CFG-02)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from banks.access import Access, KeyScope
from banks.models import SettingValue
from banks.services.agents import find_agent
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_bank
from memories.rules.layers import INFO, Effective, SettingInvalid, check_change, resolve
from memories.rules.settings import Level
from memoryhub.lib.clock import now
from memoryhub.lib.errors import FieldError

type Stored = dict[Level, dict[str, Any]]


def effective_settings(
    access: Access, bank_id: UUID | None = None, request: dict[str, Any] | None = None
) -> dict[str, Effective]:
    """Every setting with the value that holds for this caller (and bank), and the level that set it. One query."""
    return resolve(_layers(access, bank_id, request))


def value_of(access: Access, key: str) -> Any:
    """The value of one setting for this caller."""
    return effective_settings(access)[key].value


def read_settings(access: Access, bank_id: UUID | None = None) -> dict[str, Effective]:
    """The same for people and the API. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return effective_settings(access, bank_id)


def _layers(access: Access, bank_id: UUID | None, request: dict[str, Any] | None = None) -> Stored:
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


def write_setting(access: Access, level: Level, key: str, value: Any, target: str | None = None) -> Effective:
    """Set one value for the vault, one of its banks or one of its agents; None takes it back.

    Needs settings:admin. Raises SettingInvalid; system-wide settings are the operator's, through the environment's
    shell, never through a vault's key.
    """
    access.require(KeyScope.SETTINGS_ADMIN)
    if level not in {Level.VAULT, Level.BANK, Level.AGENT}:
        raise SettingInvalid(errors=[FieldError("/level", "wrong_level", "must be vault, bank or agent")])
    target_id = _target(access, level, target)
    bank_id = target_id if level == Level.BANK else None
    if value is None:
        key = key if key in INFO else check_change({}, level, key, None)[0]
    else:
        key, value = check_change(_layers(access, bank_id), level, key, value)
    where: dict[str, Any] = {"vault_id": access.vault_id, "level": level.value, "target": target_id, "key": key}
    with transaction.atomic():
        if value is None:
            SettingValue.objects.filter(**where).delete()
        else:
            SettingValue.objects.update_or_create(**where, defaults={"value": value, "updated_at": now()})
        record_audit(access, Audited("write_setting", level.value, target_id or access.vault_id))
    return effective_settings(access, bank_id)[key]


def _target(access: Access, level: Level, target: str | None) -> UUID | None:
    if level == Level.VAULT:
        return None
    if not target:
        raise SettingInvalid(errors=[FieldError("/target", "required", f"name the {level.value} by name or id")])
    found = find_bank(access, target, "/target") if level == Level.BANK else find_agent(access, target)
    return UUID(str(found.pk))

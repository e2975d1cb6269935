"""Settings: what holds, who said so, and changing one (CFG-02)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from banks.access import Access, KeyScope
from banks.models import SettingValue
from banks.services.agents import find_agent
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_bank
from memories.models.effective import effective_settings, setting_layers
from memories.rules.layers import Effective, SettingInvalid, canonical_key, check_change, resolve
from memories.rules.settings import Level
from memoryhub.lib.clock import now
from memoryhub.lib.errors import FieldError

type Held = dict[str, Effective]


def read_settings(access: Access, bank_id: UUID | None = None) -> dict[str, Effective]:
    """The same for people and the API. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return effective_settings(access, bank_id)


def survey_settings(access: Access) -> list[SettingValue]:
    """Every value somebody chose that concerns this vault, of every level, bank and agent. Needs memories:read.

    A caller that is limited to banks, or is an agent, sees those that hold for it.
    """
    access.require(KeyScope.MEMORIES_READ)
    rows = SettingValue.objects.filter(Q(vault_id=access.vault_id) | Q(level=Level.SYSTEM)).order_by("key", "pk")
    return [row for row in rows if _concerns(access, row)]


def _concerns(access: Access, row: SettingValue) -> bool:
    if row.level == Level.BANK and row.target is not None:
        return access.may_use_bank(row.target)
    return row.level != Level.AGENT or access.agent is None or row.target == access.agent.pk


def held_by(access: Access, rows: Sequence[SettingValue], bank_id: UUID | None, agent_id: UUID | None) -> Held:
    """What holds for a bank and an agent, or for the whole vault, by the rows of survey_settings."""
    heard = {Level.BANK: bank_id, Level.AGENT: agent_id or (access.agent.pk if access.agent else None)}
    layers: dict[Level, dict[str, Any]] = {}
    for row in rows:
        if row.target is None or row.target == heard.get(Level(row.level)):
            layers.setdefault(Level(row.level), {})[row.key] = row.value
    return resolve(layers)


def write_setting(access: Access, level: Level, key: str, value: Any, target: str | None = None) -> Effective:
    """Set one value for the vault, one of its banks or one of its agents; None takes it back.

    Needs settings:admin. Raises SettingInvalid, WholeVaultNeeded where the value would hold beyond what the caller
    reaches; system-wide settings are the operator's, through the environment's
    shell, never through a vault's key.
    """
    access.require(KeyScope.SETTINGS_ADMIN)
    if level not in {Level.VAULT, Level.BANK, Level.AGENT}:
        raise SettingInvalid(errors=[FieldError("/level", "wrong_level", "must be vault, bank or agent")])
    target_id = _target(access, level, target)
    if level != Level.BANK and (access.agent is None or access.agent.pk != target_id):
        access.require_whole_vault()
    bank_id = target_id if level == Level.BANK else None
    if value is None:
        key = canonical_key(key)
    else:
        key, value = check_change(setting_layers(access, bank_id), level, key, value)
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
        if target and target != str(access.vault_id):
            raise SettingInvalid(errors=[FieldError("/target", "not_used", "only the levels bank and agent have one")])
        return None
    if not target:
        raise SettingInvalid(errors=[FieldError("/target", "required", f"name the {level.value} by name or id")])
    found = find_bank(access, target, "/target") if level == Level.BANK else find_agent(access, target)
    return UUID(str(found.pk))

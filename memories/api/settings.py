"""Settings: what holds, who said so, and changing one (CFG-02)."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope, WholeVaultNeeded
from banks.services.agents import UnknownAgent
from banks.services.banks import UnknownBank, find_bank
from memories.api.requests import ApiRequest
from memories.rules.drafts import Label
from memories.rules.layers import INFO, Effective, SettingInvalid, canonical_key
from memories.rules.settings import Level
from memories.services import settings
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()


@with_config(
    shown(
        {
            "key": "dedup_skip_threshold",
            "value": 0.95,
            "source": "bank",
            "default": 0.92,
            "group": "dedup",
            "description": "At or above this similarity a write is a duplicate.",
            "levels": ["system", "vault", "bank"],
            "minimum": 0.0,
            "maximum": 1.0,
        }
    )
)
class SettingOut(TypedDict):
    """One setting: the value that holds, the level that set it, and what it may be."""

    key: str
    value: Any
    source: str
    default: Any
    group: str
    description: str
    levels: list[Annotated[str, Word(Level)]]
    minimum: float | None
    maximum: float | None
    choices: list[str]
    planned: bool


class SettingList(TypedDict):
    """Every setting there is."""

    items: list[SettingOut]


class SettingChange(StrictModel):
    """One value to set; ``null`` takes it back. ``target`` names the bank or agent of those levels, of no other."""

    model_config = shown({"level": "bank", "target": "Work", "key": "dedup_skip_threshold", "value": 0.95})

    level: Level = Level.VAULT
    target: Label | None = None
    key: Annotated[str, Field(min_length=1, max_length=80, strict=True)]
    value: Any


def setting_out(key: str, effective: Effective) -> SettingOut:
    """One setting."""
    info = INFO[key]
    return {
        "key": key,
        "value": effective.value,
        "source": effective.source,
        "default": info.default,
        "group": info.group,
        "description": info.description,
        "levels": list(info.levels),
        "minimum": info.minimum,
        "maximum": info.maximum,
        "choices": list(info.choices),
        "planned": info.planned,
    }


@router.get("/settings", response=SettingList, **told("List settings", KeyScope.MEMORIES_READ, UnknownBank))
def list_settings(request: ApiRequest, bank: Label | None = None) -> HttpResponse:
    """Every setting with the value that holds for this key (and bank, if one is named) and its source."""
    bank_id = find_bank(request.access, bank).pk if bank else None
    found = settings.read_settings(request.access, bank_id)
    return json_answer({"items": [setting_out(key, effective) for key, effective in found.items()]})


@router.patch(
    "/settings",
    response=SettingOut,
    **told("Change a setting", KeyScope.SETTINGS_ADMIN, SettingInvalid, UnknownBank, UnknownAgent, WholeVaultNeeded),
)
def write_setting(request: ApiRequest, change: SettingChange) -> HttpResponse:
    """Set one value for the vault, one of its banks or one of its agents."""
    held = settings.write_setting(request.access, change.level, change.key, change.value, change.target)
    return json_answer(setting_out(canonical_key(change.key), held))

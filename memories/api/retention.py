"""What each bank keeps: its policy, what it would do now, and doing it (PRN-14, CON-17)."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, StrictBool, with_config

from banks.access import KeyScope, WholeVaultNeeded
from banks.services.banks import UnknownBank
from memories.api.requests import ApiRequest
from memories.rules.drafts import Label
from memories.rules.layers import SettingInvalid
from memories.rules.vocabulary import MemoryCategory, MemoryType
from memories.services import retention
from memories.services.retention import Kept
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.strict import StrictModel

router = Router()

Days = Annotated[int, Field(ge=1, le=36_500, strict=True)]
PurgeDays = Annotated[int, Field(ge=30, le=36_500, strict=True)]


class RetentionDraft(StrictModel):
    """A bank's policy: what is named is set, `null` takes it back. With `dry_run` nothing is set and all is shown."""

    model_config = shown(
        {"bank": "Events", "enabled": True, "max_age_days": 365, "types": ["episodic"], "dry_run": True}
    )

    bank: Label
    dry_run: StrictBool = False
    enabled: StrictBool | None = None
    max_age_days: Days | None = None
    inactive_days: Days | None = None
    max_memories: Annotated[int, Field(ge=1, le=100_000_000, strict=True)] | None = None
    types: Annotated[list[MemoryType], Field(max_length=7)] | None = None
    categories: Annotated[list[MemoryCategory], Field(max_length=5)] | None = None
    purge_discarded_days: PurgeDays | None = None
    purge_archived_days: PurgeDays | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What was named, by the names of the settings."""
        given = self.model_dump(mode="json", include=self.model_fields_set - {"bank", "dry_run"})
        return {_SETTINGS[name]: value for name, value in given.items()}


_SETTINGS = {
    "enabled": "enable_retention",
    "max_age_days": "retention_max_age_days",
    "inactive_days": "retention_inactive_days",
    "max_memories": "retention_max_memories",
    "types": "retention_types",
    "categories": "retention_categories",
    "purge_discarded_days": "purge_discarded_days",
    "purge_archived_days": "purge_archived_days",
}


@with_config(
    shown(
        {
            "bank": "Events",
            "enabled": True,
            "max_age_days": 365,
            "types": ["episodic"],
            "to_archive": {"age": 14},
            "to_purge": 3,
        }
    )
)
class RetentionOut(TypedDict):
    """A bank's policy, and how many memories it would archive (by reason) and purge now."""

    bank: str
    bank_id: UUID
    enabled: bool
    max_age_days: int | None
    inactive_days: int | None
    max_memories: int | None
    types: list[Annotated[str, Word(MemoryType)]] | None
    categories: list[Annotated[str, Word(MemoryCategory)]] | None
    purge_discarded_days: int | None
    purge_archived_days: int | None
    to_archive: dict[str, int]
    to_purge: int


class RetentionList(TypedDict):
    """The policy of every bank asked for."""

    items: list[RetentionOut]


class StartedOut(TypedDict):
    """The job that does it."""

    job_id: UUID


def _out(kept: Kept) -> RetentionOut:
    policy = kept.policy
    return {
        "bank": kept.bank.name,
        "bank_id": kept.bank.pk,
        "enabled": policy.enabled,
        "max_age_days": policy.max_age.days if policy.max_age else None,
        "inactive_days": policy.inactive_for.days if policy.inactive_for else None,
        "max_memories": policy.max_memories,
        "types": None if policy.types is None else sorted(policy.types),
        "categories": None if policy.categories is None else sorted(policy.categories),
        "purge_discarded_days": policy.purge_discarded.days if policy.purge_discarded else None,
        "purge_archived_days": policy.purge_archived.days if policy.purge_archived else None,
        "to_archive": {reason.value: count for reason, count in kept.to_archive.items()},
        "to_purge": kept.to_purge,
    }


@router.get("/retention", response=RetentionList, **told("Preview retention", KeyScope.CLEANUP_PLAN, UnknownBank))
def preview_retention(request: ApiRequest, bank: Label | None = None) -> HttpResponse:
    """What each bank keeps, and what its policy would do now; changes nothing."""
    return json_answer({"items": [_out(one) for one in retention.preview_retention(request.access, bank)]})


@router.put(
    "/retention",
    response=RetentionList,
    **told("Set a retention policy", KeyScope.SETTINGS_ADMIN, UnknownBank, SettingInvalid),
)
def write_retention(request: ApiRequest, draft: RetentionDraft) -> HttpResponse:
    """Set a bank's policy, or with `dry_run: true` only see what it would do."""
    if draft.dry_run:
        found = retention.preview_retention(request.access, draft.bank, draft.settings)
    else:
        found = retention.write_retention(request.access, draft.bank, draft.settings)
    return json_answer({"items": [_out(one) for one in found]})


@router.post(
    "/retention/enforce",
    response={202: StartedOut},
    **told("Enforce retention now", KeyScope.CLEANUP_APPLY, WholeVaultNeeded),
)
def start_retention(request: ApiRequest) -> HttpResponse:
    """Enforce the policies that are switched on now; they are once a day anyway."""
    return json_answer({"job_id": retention.start_retention(request.access).pk}, 202)

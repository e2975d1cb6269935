"""The audit trail: ids only, in the caller's transaction (MIG-13). Content has no place here."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from banks.access import Access, KeyScope
from banks.models import AuditEntry

_CHOSEN_FROM = 5_000


@dataclass(frozen=True, slots=True)
class Audited:
    """What happened to what; versions where the target has them.

    ``event``: its name in the stream of events, if it has one. ``bank_id``: where a memory is that all agents share,
    ``left_bank_id``: where it was before, when this moved it.
    """

    action: str
    target_kind: str
    target_id: UUID | None
    version_before: int | None = None
    version_after: int | None = None
    changeset_id: UUID | None = None
    event: str = ""
    bank_id: UUID | None = None
    left_bank_id: UUID | None = None


def audit_entry(access: Access, done: Audited) -> AuditEntry:
    """The row for one mutation, not saved, so that a batch can save many at once."""
    return AuditEntry(
        vault_id=access.vault_id,
        actor_kind=access.actor.kind,
        actor_id=access.actor.id,
        action=done.action,
        target_kind=done.target_kind,
        target_id=done.target_id,
        version_before=done.version_before,
        version_after=done.version_after,
        changeset_id=done.changeset_id,
        request_id=access.request_id,
        event=done.event,
        bank_id=done.bank_id,
        left_bank_id=done.left_bank_id,
        door=access.door,
    )


def record_audit(access: Access, *done: Audited) -> None:
    """Write the rows now, in the running transaction."""
    AuditEntry.objects.bulk_create([audit_entry(access, one) for one in done])


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Through which door, whose actions, which, and of which request; empty means any."""

    door: str = ""
    actor_kind: str = ""
    actor_id: str = ""
    action: str = ""
    request_id: str = ""


def list_audit(
    access: Access, limit: int = 100, before: int | None = None, wanted: AuditFilter = AuditFilter()
) -> list[AuditEntry]:
    """The newest entries of the vault, older than ``before`` when given. Needs ops:read. Raises WholeVaultNeeded."""
    access.require(KeyScope.OPS_READ)
    access.require_whole_vault()
    named = {name: value for name in AuditFilter.__slots__ if (value := getattr(wanted, name))}
    entries = AuditEntry.objects.filter(vault_id=access.vault_id, **named)
    if before is not None:
        entries = entries.filter(pk__lt=before)
    return list(entries.order_by("-pk")[:limit])


def audit_choices(access: Access) -> list[tuple[str, str, str, int]]:
    """Actor kind, actor id, action and how often, among the vault's last few thousand entries. Needs ops:read.

    Raises WholeVaultNeeded.
    """
    access.require(KeyScope.OPS_READ)
    access.require_whole_vault()
    recent = AuditEntry.objects.filter(vault_id=access.vault_id).order_by("-pk")[:_CHOSEN_FROM]
    rows = AuditEntry.objects.filter(pk__in=recent.values("pk")).order_by()
    return list(rows.values_list("actor_kind", "actor_id", "action").annotate(n=Count("pk")))


def count_audit_after(access: Access, latest: int, most: int) -> int:
    """How much was done after ``latest``, counted up to ``most``; what was done together is one. Needs ops:read.

    Raises WholeVaultNeeded.
    """
    access.require(KeyScope.OPS_READ)
    access.require_whole_vault()
    newer = AuditEntry.objects.filter(vault_id=access.vault_id, pk__gt=latest).order_by("-pk")
    rows = newer.values_list("action", "changeset_id", "request_id", "pk")[:_CHOSEN_FROM]
    return min(most, len({(action, changeset or request or pk) for action, changeset, request, pk in rows}))

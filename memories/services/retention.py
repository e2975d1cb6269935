"""What each bank keeps: shown before it happens, archived as one changeset, and purged where its policy says so."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from banks.access import Access, KeyScope
from banks.models import Bank
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_bank, list_banks
from memories.jobs import JobKind
from memories.models import Changeset, ChangesetItem, ErasureReceipt, Job, Link, Memory
from memories.models.effective import effective_settings
from memories.models.memory import MemoryQuerySet
from memories.rules.retention import Holding, RetentionPolicy, RetentionReason, purged_before, to_archive
from memories.rules.settings import Level
from memories.rules.vocabulary import ErasureKind, MemoryCategory, MemoryType, Relation, Status
from memories.services.archiving import archive_many
from memories.services.changesets import open_changeset
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.erasing import erase_rows
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memories.services.receipts import open_receipt, sign_receipt
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict

BATCH = 500
#: How many of the memories that would go are shown by name.
SHOWN = 10
ACTION = "enforce_retention"
#: Field of the policy → its setting.
KEYS = {
    "enabled": "enable_retention",
    "max_age": "retention_max_age_days",
    "inactive_for": "retention_inactive_days",
    "max_memories": "retention_max_memories",
    "types": "retention_types",
    "categories": "retention_categories",
    "purge_discarded": "purge_discarded_days",
    "purge_archived": "purge_archived_days",
}


class RetentionChanged(Conflict):
    """The policy would do more or less by now than was shown; look again and confirm the new number."""

    code = "retention_changed"


@dataclass(frozen=True, slots=True)
class Kept:
    """A bank, what it keeps, and what its policy would do now. ``first``: some of what would go, and why each would."""

    bank: Bank
    policy: RetentionPolicy
    to_archive: Mapping[RetentionReason, int]
    to_purge: int
    first: Mapping[UUID, RetentionReason]
    first_purged: Sequence[UUID]

    @property
    def count(self) -> int:
        """How many memories would be archived or purged: what is confirmed."""
        return sum(self.to_archive.values()) + self.to_purge


def preview_retention(access: Access, bank: str | None = None, proposed: Mapping[str, Any] | None = None) -> list[Kept]:
    """What the policies of all banks, or of one, would do now; with ``proposed`` settings in place of the stored ones.

    Changes nothing. Needs cleanup:plan. Raises UnknownBank.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    chosen = list_banks(access, include_hidden=True) if bank is None else [find_bank(access, bank)]
    return [_kept(access, one, policy_of(access, one.pk, proposed)) for one in chosen]


def policy_of(access: Access, bank_id: UUID, proposed: Mapping[str, Any] | None = None) -> RetentionPolicy:
    """What a bank keeps, from the settings that hold for it."""
    stored = effective_settings(access, bank_id)
    value = {field: stored[key].value for field, key in KEYS.items()}
    value |= {field: (proposed or {})[key] for field, key in KEYS.items() if key in (proposed or {})}
    return RetentionPolicy(
        enabled=bool(value["enabled"]),
        max_age=_days(value["max_age"]),
        inactive_for=_days(value["inactive_for"]),
        max_memories=value["max_memories"],
        types=None if value["types"] is None else frozenset(map(MemoryType, value["types"])),
        categories=None if value["categories"] is None else frozenset(map(MemoryCategory, value["categories"])),
        purge_discarded=_days(value["purge_discarded"]),
        purge_archived=_days(value["purge_archived"]),
    )


def _days(count: int | None) -> dt.timedelta | None:
    return None if count is None else dt.timedelta(days=count)


def _kept(access: Access, bank: Bank, policy: RetentionPolicy) -> Kept:
    at = now()
    due = to_archive(policy, _holdings(access, bank.pk), at)
    purged = _purgeable(access, bank.pk, policy, at)
    return Kept(
        bank=bank,
        policy=policy,
        to_archive=Counter(due.values()),
        to_purge=purged.count(),
        first=dict(islice(due.items(), SHOWN)),
        first_purged=list(purged.order_by("pk").values_list("pk", flat=True)[:SHOWN]),
    )


def write_retention(access: Access, bank: str, values: Mapping[str, Any]) -> list[Kept]:
    """Set what a bank keeps, by the names of the settings; None takes one back. What that would do now.

    Needs settings:admin. Raises UnknownBank, SettingInvalid; then nothing was set.
    """
    access.require(KeyScope.SETTINGS_ADMIN)
    found = find_bank(access, bank)
    with transaction.atomic():
        for key, value in values.items():
            write_setting(access, Level.BANK, key, value, str(found.pk))
    return [_kept(access, found, policy_of(access, found.pk))]


def start_retention(access: Access, bank: str | None = None, expected_count: int | None = None) -> Job:
    """Have the policies of all banks, or of one, enforced now instead of at their hour; the job. Needs cleanup:apply.

    Raises WholeVaultNeeded, UnknownBank, RetentionChanged unless as many would go as ``expected_count``, when given.
    """
    access.require(KeyScope.CLEANUP_APPLY)
    access.require_whole_vault()
    found = None if bank is None else find_bank(access, bank)
    if expected_count is not None:
        count = sum(kept.count for kept in preview_retention(access, bank))
        if count != expected_count:
            raise RetentionChanged(f"{count:,} memories would go now, not {expected_count:,}; look again.")
    ref, key = ({}, "schedule") if found is None else ({"bank": str(found.pk)}, str(found.pk))
    about = ("vault", access.vault_id) if found is None else ("bank", found.pk)
    with transaction.atomic():
        enqueue_job(access.vault_id, JobKind.ENFORCE_RETENTION, ref, dedupe_key=key)
        record_audit(access, Audited("start_retention", *about))
        asked = Job.objects.filter(vault_id=access.vault_id, kind=JobKind.ENFORCE_RETENTION, dedupe_key=key)
        return asked.latest("created_at")


def _holdings(access: Access, bank_id: UUID) -> list[Holding]:
    """What lives in a bank, as its policy looks at it; drafts wait for a person and are none of it."""
    rows = Memory.objects.visible_to(access).live().filter(bank_id=bank_id, status=Status.ACCEPTED)
    fields = ("pk", "type", "category", "created_at", "updated_at", "last_accessed_at", "is_protected")
    return [
        Holding(
            id=pk,
            type=MemoryType(kind),
            category=None if category is None else MemoryCategory(category),
            created_at=created,
            needed_at=max(updated, recalled or updated),
            is_protected=protected,
        )
        for pk, kind, category, created, updated, recalled, protected in rows.values_list(*fields).iterator(5_000)
    ]


def _purgeable(access: Access, bank_id: UUID, policy: RetentionPolicy, at: dt.datetime) -> MemoryQuerySet:
    """What was put away long enough ago. Never what is protected, what an undo still reaches, or what a summary says.

    Erasing a source would take its summary along: that is for a person to ask.
    """
    discarded = purged_before(policy, policy.purge_discarded, at)
    archived = purged_before(policy, policy.purge_archived, at)
    old = Q()
    if discarded is not None:
        old |= Q(status=Status.DISCARD.value, updated_at__lt=discarded)
    if archived is not None:
        old |= Q(archived_at__lt=archived)
    rows = Memory.objects.visible_to(access)
    if not old:
        return rows.none()
    undoable = at - dt.timedelta(days=max(30, effective_settings(access)["undo_days"].value))
    recent = Changeset.objects.filter(vault_id=access.vault_id, created_at__gte=undoable)
    changed = ChangesetItem.objects.filter(vault_id=access.vault_id, changeset__in=recent.values("pk"))
    summarised = Link.objects.filter(
        vault_id=access.vault_id, relation=Relation.DERIVED_FROM.value, source__is_summarized=True
    )
    rows = rows.filter(old, bank_id=bank_id, is_protected=False)
    return rows.exclude(pk__in=changed.values("memory_id")).exclude(pk__in=summarised.values("target_id"))


def enforce_retention(access: Access, job: Job) -> int:
    """The job's body: archive what outlived its bank's policy, then purge; how many memories. Raises JobLost.

    Of all banks, or of the one the job names. Goes on where it stopped: what is done is no candidate any more, and the
    job knows its changeset and its receipt.
    """
    moved, only = 0, job.ref.get("bank")
    for bank in list_banks(access, include_hidden=True):
        if only not in {None, str(bank.pk)}:
            continue
        policy = policy_of(access, bank.pk)
        due = list(to_archive(policy, _holdings(access, bank.pk), now()))
        for start in range(0, len(due), BATCH):
            report_progress(job, start, len(due), f"archiving in {bank.name}"[:80])
            moved += _archive(access, job, due[start : start + BATCH])
        while purged := _purge(access, job, bank.pk, policy):
            moved += purged
            report_progress(job, moved, moved, f"purging in {bank.name}"[:80])
    with transaction.atomic():
        hold_job(job)
        receipt = _receipt(access, job)
        if receipt is not None:
            sign_receipt(access, receipt)
        finish_job(job)
    return moved


@despite_deadlocks
def _archive(access: Access, job: Job, ids: list[UUID]) -> int:
    with transaction.atomic():
        hold_job(job)
        rows = Memory.objects.in_vault(access.vault_id).live().filter(pk__in=ids, is_protected=False)
        memories = list(rows.select_for_update(of=("self",), no_key=True).order_by("pk"))
        if not memories:
            return 0
        changeset = Changeset.objects.filter(vault_id=access.vault_id, pk=job.ref.get("changeset")).first()
        if changeset is None:
            changeset = open_changeset(access, ACTION, "retention")
            _remember(job, "changeset", changeset.pk)
        return archive_many(WriteContext.of(access), memories, changeset, "retention")


@despite_deadlocks
def _purge(access: Access, job: Job, bank_id: UUID, policy: RetentionPolicy) -> int:
    ids = list(_purgeable(access, bank_id, policy, now()).order_by("pk").values_list("pk", flat=True)[:BATCH])
    if not ids:
        return 0
    with transaction.atomic():
        hold_job(job)
        lock_chains(access.vault_id)
        receipt = _receipt(access, job)
        if receipt is None:
            receipt = open_receipt(access, ErasureKind.RETENTION)
            receipt.save(force_insert=True)
            _remember(job, "erasure", receipt.pk)
        erased = erase_rows(access, receipt, ids)
        receipt.save(update_fields=["removed"])
    return erased


def _receipt(access: Access, job: Job) -> ErasureReceipt | None:
    return ErasureReceipt.objects.filter(vault_id=access.vault_id, pk=job.ref.get("erasure")).first()


def _remember(job: Job, name: str, value: UUID) -> None:
    """In the transaction of the first batch, so that a second attempt goes on with the same one."""
    job.ref = {**job.ref, name: str(value)}
    Job.objects.filter(pk=job.pk).update(ref=job.ref)

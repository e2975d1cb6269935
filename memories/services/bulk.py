"""Change many memories as one: archive, restore, review, move, tag, weigh or protect whatever a list shows.

Up to 500 are changed at once; more are noted in batches and left to a job, which commits each batch by itself and
takes it off the list, so that a killed job goes on with what is left. Either way it is one changeset.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope, acting_under, mandate_of
from memories.jobs import JobKind
from memories.models import BulkBatch, Changeset, Job, Link, Memory
from memories.models.memory import MemoryQuerySet
from memories.rules.bulk import AT_ONCE, BulkAction, BulkChange, Given, Skip, Subject, change_of
from memories.rules.vocabulary import ChangesetState, JobState, Relation, Status
from memories.search.filtering import matching
from memories.services.altering import Alteration, alter_where_possible
from memories.services.changesets import open_changeset, record_items
from memories.services.contention import despite_deadlocks
from memories.services.context import WriteContext
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict

_SCOPES: Mapping[BulkAction, KeyScope] = {
    BulkAction.ARCHIVE: KeyScope.MEMORIES_DELETE,
    BulkAction.ACCEPT: KeyScope.MEMORIES_APPROVE,
    BulkAction.DISCARD: KeyScope.MEMORIES_APPROVE,
}


class SelectionChanged(Conflict):
    """Not as many memories match as were seen; look at them again and confirm the new number, in `count`."""

    code = "selection_changed"


@dataclass(slots=True)
class BulkReport:
    """What a bulk change did: its changeset (None when nothing changed), how many, and what was left alone and why.

    With a ``job`` the change is still being made; the numbers are then zero, and the changeset fills as it goes.
    """

    changeset: Changeset | None = None
    changed: int = 0
    unchanged: int = 0
    skipped: dict[UUID, Skip] = field(default_factory=dict)
    missing: list[UUID] = field(default_factory=list)
    job: Job | None = None


@despite_deadlocks
def bulk_change(access: Access, wanted: BulkChange) -> BulkReport:
    """Do one thing to every memory chosen, as one changeset that can be undone.

    Needs memories:delete to archive, memories:approve to accept or discard, memories:write for the rest.
    Raises SelectionChanged, UnknownBank, Invalid.
    """
    access.require(_SCOPES.get(wanted.action, KeyScope.MEMORIES_WRITE))
    given = _given(access, wanted)
    with transaction.atomic():
        chosen = _chosen(access, wanted)
        changeset = open_changeset(access, wanted.action.verb, wanted.reason)
        if len(chosen) > AT_ONCE:
            return BulkReport(changeset, job=_enqueued(access, changeset, given, chosen))
        report = _change(access, changeset, given, chosen)
        report.missing = sorted(set(wanted.ids or []) - set(chosen) - set(wanted.exclude_ids))
        if not report.changed:
            changeset.delete()
            report.changeset = None
    return report


def continue_bulk_change(access: Access, job: Job) -> int:
    """Body of the job: the batches that are left, one transaction each; how many memories. Raises JobLost.

    What is undone while it runs is not changed any further.
    """
    asked = acting_under(access, job.ref["mandate"])
    changeset_id, total = UUID(job.ref["changeset_id"]), int(job.ref["count"])
    left = list(
        BulkBatch.objects.filter(vault_id=access.vault_id, changeset_id=changeset_id)
        .order_by("id")
        .values_list("pk", "memory_ids__len")
    )
    done: int = total - sum(size for _, size in left)
    for batch_id, size in left:
        report_progress(job, done, total, "changing")
        _change_batch(asked, job, changeset_id, batch_id)
        done += size
    report_progress(job, done, total, "changing")
    with transaction.atomic():
        finish_job(job)
    return done


@despite_deadlocks
def _change_batch(access: Access, job: Job, changeset_id: UUID, batch_id: UUID) -> None:
    with transaction.atomic():
        hold_job(job)
        changeset = Changeset.objects.select_for_update().get(vault_id=access.vault_id, pk=changeset_id)
        batch = BulkBatch.objects.select_for_update().get(pk=batch_id)
        if changeset.state == ChangesetState.APPLIED:
            action, value = BulkAction(batch.given["action"]), batch.given["value"]
            given = Given(action, UUID(value) if action == BulkAction.MOVE_BANK else value)
            _change(access, changeset, given, batch.memory_ids)
        batch.delete()


def forget_bulk(access: Access, memory_ids: Collection[UUID]) -> int:
    """Take erased memories off what bulk changes have still to do; how many lists named one."""
    named = BulkBatch.objects.select_for_update().filter(vault_id=access.vault_id, memory_ids__overlap=list(memory_ids))
    lists = list(named)
    for batch in lists:
        batch.memory_ids = [one for one in batch.memory_ids if one not in set(memory_ids)]
        batch.save(update_fields=["memory_ids"])
    return len(lists)


def _given(access: Access, wanted: BulkChange) -> Given:
    match wanted.action:
        case BulkAction.MOVE_BANK:
            return Given(wanted.action, UUID(str(WriteContext.of(access).bank(wanted.bank).pk)))
        case BulkAction.ADD_TAGS | BulkAction.REMOVE_TAGS:
            return Given(wanted.action, list(wanted.tags or []))
        case BulkAction.SET_IMPORTANCE:
            return Given(wanted.action, wanted.importance)
        case BulkAction.SET_CATEGORY:
            return Given(wanted.action, wanted.category.value if wanted.category else None)
        case _:
            return Given(wanted.action)


def count_chosen(access: Access, wanted: BulkChange) -> int:
    """How many memories the change would be asked of now. Needs memories:read. Raises UnknownBank."""
    access.require(KeyScope.MEMORIES_READ)
    return _meant(access, wanted).count()


def _meant(access: Access, wanted: BulkChange) -> MemoryQuerySet:
    if wanted.query is not None:
        rows = matching(access, wanted.query)
    else:
        rows = Memory.objects.visible_to(access).filter(pk__in=wanted.ids or [])
    return rows.exclude(pk__in=wanted.exclude_ids) if wanted.exclude_ids else rows


def _chosen(access: Access, wanted: BulkChange) -> list[UUID]:
    """The ids meant, in a fixed order. Raises SelectionChanged unless they are as many as were seen."""
    ids = list(_meant(access, wanted).order_by("pk").values_list("pk", flat=True))
    if wanted.expected_count not in {None, len(ids)}:
        raise SelectionChanged(
            f"{len(ids):,} memories match now, not {wanted.expected_count:,}; look at them again.",
            extra={"count": len(ids)},
        )
    return ids


def _enqueued(access: Access, changeset: Changeset, given: Given, chosen: Sequence[UUID]) -> Job:
    said = {"action": given.action.value, "value": str(given.value) if isinstance(given.value, UUID) else given.value}
    insert_rows(
        [
            BulkBatch(vault_id=access.vault_id, changeset_id=changeset.pk, memory_ids=list(part), given=said)
            for part in batched(chosen, AT_ONCE)
        ]
    )
    key = str(changeset.pk)
    ref = {"changeset_id": key, "mandate": mandate_of(access), "count": len(chosen)}
    enqueue_job(access.vault_id, JobKind.BULK_CHANGE, ref, dedupe_key=key)
    return Job.objects.get(vault_id=access.vault_id, kind=JobKind.BULK_CHANGE, dedupe_key=key, state=JobState.PENDING)


def _change(access: Access, changeset: Changeset, given: Given, ids: Collection[UUID]) -> BulkReport:
    """Lock, decide, write and record in the running transaction."""
    rows = Memory.objects.visible_to(access).select_for_update(of=("self",), no_key=True)
    memories = list(rows.filter(pk__in=ids).order_by("id"))
    promising = _promising(memories) if given.action == BulkAction.ACCEPT else set()
    report, alterations = BulkReport(changeset), []
    reason = changeset.reason or ""
    for memory in memories:
        decided = change_of(_subject(memory, promising), given)
        if isinstance(decided, Skip):
            report.skipped[memory.pk] = decided
        else:
            alterations.append(Alteration(memory, _values(memory, decided, reason), reason))
    moved, taken = alter_where_possible(access, changeset.action, changeset, alterations)
    record_items(changeset, moved)
    changeset.count += len(moved)
    report.skipped |= dict.fromkeys(taken, Skip.DUPLICATE_CONTENT)
    report.changed = len(moved)
    report.unchanged = len(memories) - len(moved) - len(report.skipped)
    return report


def _promising(memories: Iterable[Memory]) -> set[UUID]:
    drafts = [memory.pk for memory in memories if memory.status == Status.DRAFT]
    promised = Link.objects.filter(source_id__in=drafts, relation=Relation.SUPERSEDES.value)
    return set(promised.values_list("source_id", flat=True))


def _subject(memory: Memory, promising: Collection[UUID]) -> Subject:
    return Subject(
        status=Status(memory.status),
        tags=memory.tags,
        archived=memory.archived_at is not None,
        superseded=memory.superseded_by_id is not None,
        protected=memory.is_protected,
        has_promises=memory.pk in promising,
    )


def _values(memory: Memory, decided: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """The decision as the model's fields hold it; what is archived already keeps its moment and its reason."""
    if "archived" not in decided:
        return dict(decided)
    if decided["archived"] == memory.archived:
        return {}
    return {
        "archived_at": now() if decided["archived"] else None,
        "archived_reason": (reason or None) if decided["archived"] else None,
    }

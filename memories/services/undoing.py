"""Undo a changeset, whole or memory by memory: each is again what it was, as a new version.

What was edited since is listed and left alone, and so is what would make a second live memory with the same content.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from banks.access import Access, KeyScope, acting_under, mandate_of
from banks.services.audit import Audited, record_audit
from memories.events import EventType
from memories.jobs import JobKind
from memories.models import (
    Changeset,
    ChangesetItem,
    CleanupPlan,
    DuplicatePair,
    Happened,
    Job,
    Memory,
    Revision,
    VaultImport,
    record_events,
)
from memories.rules.bulk import REVIEWS
from memories.rules.cleanupplans import PlanState
from memories.rules.undoing import AT_ONCE, Refusal, refusal, state_after
from memories.rules.vocabulary import ChangesetState, JobState, PairState, Relation, Status
from memories.search.reading import reaches_version
from memories.services.altering import Alteration, alter_where_possible
from memories.services.archiving import link_successors
from memories.services.changesets import find_changeset, items_of, undoable_until
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memories.services.revising import (
    REVISED,
    Change,
    ChangedSince,
    DuplicateContent,
    change_memory,
    public_name,
    snapshot,
    thawed,
)
from memories.services.superseding import head_of
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, FieldError, Invalid

ACTION = "undo_changeset"


class ChangesetUndone(Conflict):
    """This changeset was undone already."""

    code = "changeset_undone"


class ChangesetGrowing(Conflict):
    """A job is still adding to this changeset; wait until it is done, or cancel it, and then undo."""

    code = "changeset_growing"


class UndoExpired(Conflict):
    """The time in which this could be undone is over; its memories can still be restored one by one."""

    code = "undo_expired"


@dataclass(slots=True)
class UndoReport:
    """What an undo did: how many memories are as before, which were edited since, which could not go back and why.

    More than 500 memories are left to ``job``; the report is then empty, and the changeset's items say how it went.
    """

    undone: int = 0
    changed_since: list[UUID] = field(default_factory=list)
    blocked: dict[UUID, Refusal] = field(default_factory=dict)
    job: Job | None = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing was left as it is."""
        return not self.changed_since and not self.blocked


@despite_deadlocks
def undo_changeset(access: Access, changeset_id: str | UUID, memory_ids: Collection[UUID] | None = None) -> UndoReport:
    """Make the memories of a changeset, or only ``memory_ids`` (at most 500), what they were before it.

    What the changeset created is archived; replacements it made are taken back. Needs memories:write, for a rejection
    memories:approve too. Raises NotFound, ChangesetUndone, ChangesetGrowing, UndoExpired (``undo_days``), Invalid.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    changeset = find_changeset(access, changeset_id)
    if changeset.action in {"reject_drafts", *REVIEWS}:
        access.require(KeyScope.MEMORIES_APPROVE)
    if changeset.state == ChangesetState.UNDONE:
        raise ChangesetUndone
    if undoable_until(access, [changeset])[changeset.pk] < now():
        raise UndoExpired
    if memory_ids is not None and len(memory_ids) > AT_ONCE:
        raise Invalid(errors=[FieldError("/memory_ids", "too_long", f"at most {AT_ONCE} at once, or leave it out")])
    with transaction.atomic():
        changeset = Changeset.objects.select_for_update().get(pk=changeset.pk)
        if _is_growing(changeset):
            raise ChangesetGrowing
        wanted = items_of(access, changeset).filter(undone_at=None)
        if memory_ids is not None:
            wanted = wanted.filter(memory_id__in=memory_ids)
        wanted.exclude(refused="").update(refused="")
        record_audit(access, Audited(ACTION, "changeset", changeset.pk))
        items = list(wanted.order_by("memory_id")[: AT_ONCE + 1])
        if len(items) > AT_ONCE:
            return UndoReport(job=_enqueued(access, changeset))
        report = _take_back(access, changeset, items)
        _settle(changeset)
    return report


def _is_growing(changeset: Changeset) -> bool:
    """Whether a job that fills it is under way: what it adds after an undo would stand unasked."""
    going = {"changeset": changeset, "job__state__in": [JobState.PENDING, JobState.RUNNING]}
    return CleanupPlan.objects.filter(**going).exists() or VaultImport.objects.filter(**going).exists()


def undo_whole(access: Access, changeset: Changeset) -> int:
    """Undo a small changeset in the running transaction, all of it or nothing; how many memories.

    Raises ChangedSince, DuplicateContent, VersionUnreadable through the caller's rollback.
    """
    report = _take_back(access, changeset, list(items_of(access, changeset).filter(undone_at=None)))
    if report.changed_since:
        raise ChangedSince(extra={"memory_id": str(report.changed_since[0])})
    for memory_id, code in report.blocked.items():
        raise DuplicateContent if code == Refusal.DUPLICATE_CONTENT else NotUndone(extra={"memory_id": str(memory_id)})
    _settle(changeset)
    return report.undone


class NotUndone(Conflict):
    """A memory cannot go back to what it was; look at its history and change it by hand."""

    code = "not_undone"


def undo_changes(access: Access, job: Job) -> int:
    """Body of the job: take everything back that the caller may see, 500 at a time; how many. Raises JobLost.

    Each batch commits by itself and notes on its items how it went, so that a killed job goes on where it stopped.
    """
    asked = acting_under(access, job.ref["mandate"])
    changeset = find_changeset(asked, job.ref["changeset_id"])
    items = items_of(asked, changeset)
    total, done = items.count(), items.exclude(undone_at=None, refused="").count()
    waiting = items.filter(undone_at=None, refused="")
    # What the changeset created goes first: it may stand in the place of what comes back.
    for part in (waiting.filter(version_before=0), waiting.filter(version_before__gt=0)):
        after = UUID(int=0)
        while True:
            report_progress(job, done, total, "undoing")
            batch = list(part.filter(memory_id__gt=after).order_by("memory_id")[:AT_ONCE])
            if not batch:
                break
            _undo_batch(asked, job, changeset, batch)
            after, done = batch[-1].memory_id, done + len(batch)
    with transaction.atomic():
        _settle(changeset)
        finish_job(job)
    return done


@despite_deadlocks
def _undo_batch(access: Access, job: Job, changeset: Changeset, batch: Sequence[ChangesetItem]) -> None:
    with transaction.atomic():
        hold_job(job)
        _take_back(access, changeset, batch)


def _enqueued(access: Access, changeset: Changeset) -> Job:
    key = str(changeset.pk)
    ref = {"changeset_id": key, "mandate": mandate_of(access)}
    enqueue_job(access.vault_id, JobKind.UNDO_CHANGESET, ref, dedupe_key=key)
    return Job.objects.get(
        vault_id=access.vault_id, kind=JobKind.UNDO_CHANGESET, dedupe_key=key, state=JobState.PENDING
    )


@dataclass(frozen=True, slots=True)
class _Return:
    """A locked memory and the values it had."""

    memory: Memory
    values: dict[str, Any]

    @property
    def leaves(self) -> bool:
        """Whether it makes room: it is hidden by going back."""
        return self.values.get("archived_at") is not None or self.values.get("status") == Status.DISCARD


def _take_back(access: Access, changeset: Changeset, items: Sequence[ChangesetItem]) -> UndoReport:
    """Undo these items in the running transaction and note on each how it went."""
    history = _history(items)
    if any("superseded_by" in revision.changed for kept in history.values() for revision in kept):
        lock_chains(access.vault_id)
    rows = Memory.objects.visible_to(access).select_for_update(of=("self",), no_key=True)
    memories = {row.pk: row for row in rows.filter(pk__in=[item.memory_id for item in items]).order_by("id")}
    refused: dict[UUID, Refusal] = {}
    returns = []
    for item in items:
        memory = memories.get(item.memory_id)
        if memory is None:
            continue
        values, why = _values_before(access, memory, item, history[item.memory_id])
        if why is None:
            returns.append(_Return(memory, values))
        else:
            refused[memory.pk] = why
    successors = {one.memory.pk: one.memory.superseded_by_id for one in returns}
    done = _go_back(WriteContext.of(access), changeset, returns, refused)
    _mend_links(changeset.vault_id, done, successors)
    _note(items, [one.memory.pk for one in done], refused)
    changed = [memory_id for memory_id, why in refused.items() if why == Refusal.CHANGED_SINCE]
    blocked: dict[UUID, Refusal] = {one: why for one, why in refused.items() if why != Refusal.CHANGED_SINCE}
    return UndoReport(len(done), changed, blocked)


def _history(items: Sequence[ChangesetItem]) -> Mapping[UUID, list[Revision]]:
    """Memory → the revisions the changeset made of it, oldest first."""
    versions = {item.memory_id: range(item.version_before, item.version_after) for item in items}
    kept: dict[UUID, list[Revision]] = defaultdict(list)
    low = min((span.start for span in versions.values()), default=0)
    high = max((span.stop for span in versions.values()), default=0)
    found = Revision.objects.filter(memory_id__in=versions, version__gte=low, version__lt=high)
    for revision in found.order_by("memory_id", "version"):
        if revision.version in versions[revision.memory_id]:
            kept[revision.memory_id].append(revision)
    return kept


def _values_before(
    access: Access, memory: Memory, item: ChangesetItem, kept: Sequence[Revision]
) -> tuple[dict[str, Any], Refusal | None]:
    version = item.version_after if _is_as_left(memory, item) else int(memory.version)
    if item.version_before == 0:
        why = refusal(version, item.version_after)
        return {"archived_at": memory.archived_at or now(), "archived_reason": "undone"}, why
    touched = {name for revision in kept for name in revision.changed}
    before = kept[0].before if kept and version == item.version_after else {}
    lost = ("content" in touched and before.get("content") is None) or not _reached(access, kept)
    why = refusal(version, item.version_after, is_kept=bool(kept), is_readable=not lost)
    if why is not None:
        return {}, why
    values = {name: thawed(name, before[name]) for name in REVISED if public_name(name) in touched}
    successor = values.get("superseded_by_id")
    if successor is not None:
        there = Memory.objects.in_vault(access.vault_id).filter(pk=successor).first()
        if there is None:  # erased since: there is nothing left that stands for it
            values["superseded_by_id"] = None
        elif head_of(access, there).pk == memory.pk:
            why = Refusal.SUPERSEDES_ITSELF
    return values, why


def _reached(access: Access, kept: Iterable[Revision]) -> bool:
    """Whether it goes back to nowhere that the caller does not reach."""
    return all(reaches_version(access, revision) for revision in kept)


def _is_as_left(memory: Memory, item: ChangesetItem) -> bool:
    """Whether the memory is what the changeset made of it: nothing came after, or all of it was taken back since."""
    if memory.version == item.version_after:
        return True
    left = Revision.objects.filter(memory=memory, version=item.version_after).first()
    return left is not None and left.before == snapshot(memory)


def _go_back(
    context: WriteContext, changeset: Changeset, returns: Iterable[_Return], refused: dict[UUID, Refusal]
) -> list[_Return]:
    """Write the values; first what makes room, last what needs it. Those it could not write go into ``refused``."""
    wanted = list(returns)
    rewritten = [one for one in wanted if "content" in one.values]
    light = [one for one in wanted if "content" not in one.values]
    done = _altered(context, changeset, [one for one in light if one.leaves], refused)
    for one in rewritten:
        try:
            with transaction.atomic():
                change_memory(context, one.memory, Change(ACTION, one.values, changeset_id=changeset.pk))
        except DuplicateContent:
            refused[one.memory.pk] = Refusal.DUPLICATE_CONTENT
        else:
            done.append(one)
    return done + _altered(context, changeset, [one for one in light if not one.leaves], refused)


def _altered(
    context: WriteContext, changeset: Changeset, returns: list[_Return], refused: dict[UUID, Refusal]
) -> list[_Return]:
    alterations = [Alteration(one.memory, one.values) for one in returns]
    _, taken = alter_where_possible(context.access, ACTION, changeset, alterations)
    refused |= dict.fromkeys(taken, Refusal.DUPLICATE_CONTENT)
    return [one for one in returns if one.memory.pk not in taken]


def _mend_links(vault_id: UUID, done: Iterable[_Return], successors: Mapping[UUID, UUID | None]) -> None:
    """A replacement that was taken back is no link any more, and one that holds again is."""
    moved = [one for one in done if "superseded_by_id" in one.values]
    gone = [(successors[one.memory.pk], one.memory.pk) for one in moved if successors[one.memory.pk] is not None]
    if gone:
        sources, targets = zip(*gone, strict=True)
        with connection.cursor() as cursor:
            cursor.execute(_UNLINK, [list(sources), list(targets), Relation.SUPERSEDES.value])
    back = {one.memory.pk: UUID(str(one.memory.superseded_by_id)) for one in moved if one.memory.superseded_by_id}
    link_successors(back, vault_id)


def _note(items: Iterable[ChangesetItem], done: Collection[UUID], refused: Mapping[UUID, Refusal]) -> None:
    rows = {item.memory_id: item.pk for item in items}
    ChangesetItem.objects.filter(pk__in=[rows[one] for one in done]).update(undone_at=now(), refused="")
    for code in Counter(refused.values()):
        ids = [rows[memory_id] for memory_id, why in refused.items() if why == code]
        ChangesetItem.objects.filter(pk__in=ids).update(refused=code.value)


def _settle(changeset: Changeset) -> None:
    """The changeset's state from what became of its items; a pair it decided waits again once all of it is undone."""
    items = ChangesetItem.objects.filter(changeset=changeset)
    left = items.filter(undone_at=None).count()
    changeset.state = state_after(changeset.count - left, left).value
    changeset.undone_at = now() if changeset.state == ChangesetState.UNDONE else None
    changeset.save(update_fields=["state", "undone_at"])
    if not items.filter(undone_at=None, refused="").exists():
        plans = CleanupPlan.objects.filter(vault_id=changeset.vault_id, changeset=changeset)
        # Also of a plan whose job ended half way: applying it again would be another clean-up, under another number.
        done = plans.filter(state__in=[PlanState.APPLIED, PlanState.APPLYING])
        changes = {"changeset_id": str(changeset.pk)}
        told = [Happened(EventType.CLEANUP_UNDONE, "cleanup_plan", plan.pk, changes) for plan in done]
        done.update(state=PlanState.UNDONE.value)
        record_events(changeset.vault_id, *told)
    if changeset.state == ChangesetState.UNDONE:
        DuplicatePair.objects.filter(vault_id=changeset.vault_id, changeset=changeset).update(
            state=PairState.OPEN.value,
            changeset=None,
            decided_by_kind="",
            decided_by_id="",
            decided_at=None,
            reason=None,
        )


_UNLINK = """
    DELETE FROM memories_link l USING unnest(%s::uuid[], %s::uuid[]) AS gone(source, target)
    WHERE l.source_id = gone.source AND l.target_id = gone.target AND l.relation = %s
"""

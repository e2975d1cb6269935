"""Write memories: one or a batch, the same path (API-05, IDM, DUP-01).

In this order: a known external id is an upsert; equal content of the same owner and type is a duplicate; an explicit
``supersedes`` retires the old memory; anything else is new. The database's unique indexes decide races: a write that
loses one is tried again and then finds what the winner wrote (DUP-25, DEF-15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db import IntegrityError, OperationalError, transaction

from banks.access import Access, KeyScope
from banks.models import AuditEntry
from banks.services.audit import Audited, audit_entry
from memories.index.indexing import Indexable, units_of
from memories.models import Memory
from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import Outcome, Scope, Status, Trust
from memories.services.contention import MAX_RACES, WriteContended, is_deadlock
from memories.services.context import WriteContext, allocate_documents
from memories.services.indexing import index_memories
from memories.services.meeting import meeting
from memories.services.preparing import Prepared, identity_of, prepare
from memories.services.revising import SAID, Change, broken_constraint, change_memory, differs
from memories.services.superseding import AlreadySuperseded, check_successor, retire, rewritten_trust, succeeding
from memories.services.upkeep import remember_upkeep
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, HubError, NotFound

_RACED = {"memory_external_write_id", "memory_live_content", "memory_doc_no"}


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a write did (DUP-28): ``memory`` is the one that is there now, also for a duplicate."""

    memory: Memory
    outcome: Outcome
    decided_by: str
    reason: str
    duplicate_of: UUID | None = None
    superseded_id: UUID | None = None
    similarity: float | None = None


def write_memory(access: Access, draft: MemoryDraft) -> WriteResult:
    """Write one memory. Needs memories:write.

    Raises Invalid, UnknownBank, NotFound, DuplicateContent, AlreadySuperseded, TrustTooLow, WriteContended.
    """
    (result,) = write_batch(access, [draft])
    if isinstance(result, HubError):
        raise result
    return result


def write_successor(access: Access, old_id: str, draft: MemoryDraft) -> WriteResult:
    """Write a memory that replaces another and keeps its labels where the draft names none. Raises as above."""
    access.require(KeyScope.MEMORIES_WRITE)
    return write_memory(access, succeeding(check_successor(access, old_id), draft))


def write_batch(access: Access, drafts: Sequence[MemoryDraft]) -> list[WriteResult | HubError]:
    """Write many in one transaction; an item that cannot be written fails alone, in its place (DUP-26)."""
    access.require(KeyScope.MEMORIES_WRITE)
    units = [len(units_of(draft.content)) for draft in drafts]
    given = allocate_documents(access.vault_id, sum(units))
    context = WriteContext(access, given.config_version)
    # Asked before the transaction: each may open short ones of its own.
    _ = context.settings, context.space
    last = given.first_doc_no + sum(units)
    numbers = [last - count for count in accumulate(reversed(units))][::-1]
    return _despite_races(lambda: _Batch(context, [*numbers, last]).write(drafts))


class _Raced(Exception):
    """What was looked up is not as it was; look again."""


def _despite_races[T](attempt: Callable[[], T]) -> T:
    for _ in range(MAX_RACES):
        try:
            with transaction.atomic():
                return attempt()
        except IntegrityError as error:
            if broken_constraint(error) not in _RACED:
                raise
        except OperationalError as error:
            if not is_deadlock(error):
                raise
        except _Raced:
            continue
    raise WriteContended


def _locked(memory: Memory) -> Memory:
    """The row as it is now, locked. Raises _Raced when it was erased."""
    found = Memory.objects.select_for_update(of=("self",), no_key=True).filter(pk=memory.pk).first()
    if found is None:
        raise _Raced
    return found


class _Batch:
    """One attempt. Plain new memories are collected and inserted together; everything else is settled one by one."""

    def __init__(self, context: WriteContext, numbers: Sequence[int]) -> None:
        """``numbers``: the first document number of each draft, and the one after the last."""
        self.context = context
        self.access = context.access
        self.numbers = numbers
        self.fresh: list[Prepared] = []
        self.audit: list[AuditEntry] = []
        self.by_external_id: dict[str, Memory] = {}
        self.by_identity: dict[tuple[Any, ...], Memory] = {}

    def write(self, drafts: Sequence[MemoryDraft]) -> list[WriteResult | HubError]:
        prepared = [self._prepared(*each) for each in zip(drafts, self.numbers, strict=False)]
        self._look_up([item for item in prepared if isinstance(item, Prepared)])
        results: list[WriteResult | HubError] = []
        for item in prepared:
            results.append(item if isinstance(item, HubError) else self._settle(item))
        self._insert_fresh()
        insert_rows(self.audit)
        remember_upkeep(self.access.vault_id, self.numbers[0], self.numbers[-1] - self.numbers[0])
        return results

    def _prepared(self, draft: MemoryDraft, number: int) -> Prepared | HubError:
        try:
            target = self._target(draft)
            item = prepare(self.context, draft, target)
            item.memory.doc_no = number
        except HubError as error:
            return error
        return item

    def _target(self, draft: MemoryDraft) -> Memory | None:
        if draft.supersedes is None:
            return None
        try:
            return check_successor(self.access, draft.supersedes)
        except (NotFound, AlreadySuperseded):
            # A replay meets the work of its first time; a write that turns out to be new is checked again (IDM-03).
            if draft.external_write_id is None:
                raise
            return None

    def _look_up(self, items: Sequence[Prepared]) -> None:
        """Everything already there that the items could meet, locked: one query for ids, one to lock what it found."""
        met = meeting(
            self.access,
            [item.memory.external_write_id for item in items if item.memory.external_write_id],
            [bytes(item.memory.content_hash) for item in items if item.memory.content_hash],
        )
        touched = met + [item.target.pk for item in items if item.target]
        if touched:
            # All at once and in one order, so that batches which meet the same memories wait instead of deadlocking.
            rows = Memory.objects.in_vault(self.access.vault_id).filter(pk__in=touched).order_by("id")
            for row in rows.select_for_update(of=("self",), no_key=True):
                self._remember(row)

    def _remember(self, row: Memory) -> None:
        if row.external_write_id:
            self.by_external_id[row.external_write_id] = row
        identity = identity_of(row)
        if identity is not None and _is_live(row):
            self.by_identity[identity] = row

    def _settle(self, item: Prepared) -> WriteResult | HubError:
        known = self.by_external_id.get(item.memory.external_write_id or "")
        if known is not None:
            return self._alone(lambda: self._upsert(item, known))
        twin = self.by_identity.get(identity_of(item.memory) or ())
        if twin is not None and _has_expired(twin):
            self._make_room(twin)
        elif twin is not None and self.access.may_use_bank(twin.bank_id):
            return self._alone(lambda: self._confirm(item, twin))
        elif twin is not None:
            # The twin lies in a bank this key does not reach: saying "duplicate" would show it.
            item.memory.content_hash = None
        if item.draft.supersedes is not None:
            return self._alone(lambda: self._supersede(item))
        self._collect(item)
        return WriteResult(item.memory, Outcome.CREATED, "no_match", "Nothing like it was there.")

    def _alone(self, settle: Callable[[], WriteResult]) -> WriteResult | HubError:
        """One item in a savepoint, after the collected ones, so that it can meet them and fail without them."""
        self._insert_fresh()
        try:
            with transaction.atomic():
                return settle()
        except HubError as error:
            return error

    def _collect(self, item: Prepared) -> None:
        self.fresh.append(item)
        self._remember(item.memory)

    def _insert_fresh(self) -> None:
        if not self.fresh:
            return
        # In one order for everybody: two batches that insert the same keys wait for each other one way round.
        items, self.fresh = sorted(self.fresh, key=_unique_keys), []
        insert_rows([item.memory for item in items])
        index_memories(self.context, [Indexable(item.memory, item.content) for item in items])
        self.audit += [self._created(item.memory) for item in items]

    def _created(self, memory: Memory) -> AuditEntry:
        return audit_entry(self.access, Audited("write_memory", "memory", memory.pk, None, memory.version))

    def _upsert(self, item: Prepared, known: Memory) -> WriteResult:
        """A replay changes nothing; another body updates in place and keeps the archive flag (IDM-01, 03…05)."""
        known = _locked(known)
        if not _may_see(self.access, known):
            raise Conflict("This external_write_id belongs to a memory that this key does not reach.")
        values = {name: value for name, value in item.given.items() if name in SAID}
        if differs(known, "content", item.content):
            values["trust"] = rewritten_trust(self.context, known, Trust(item.memory.trust)).value
        changed = change_memory(self.context, known, Change("write_memory", values))
        if retired := self._retire_target(item, known):
            reason = "The memory with this id replaces the one named in `supersedes`."
            return WriteResult(known, Outcome.SUPERSEDED, "external_write_id", reason, superseded_id=retired)
        if not changed:
            return WriteResult(known, Outcome.IDEMPOTENT, "external_write_id", "The same write was already there.")
        names = ", ".join(sorted(changed))
        return WriteResult(
            known, Outcome.UPDATED, "external_write_id", f"The memory with this id was updated: {names}."
        )

    def _confirm(self, item: Prepared, twin: Memory) -> WriteResult:
        """An exact duplicate: nothing new is stored; a more believed source lifts what was only assumed (DUP-11)."""
        twin = _locked(twin)
        if not _is_live(twin):
            raise _Raced
        twin.last_confirmed_at = now()
        twin.save(update_fields=["last_confirmed_at"])
        reason = "A live memory with exactly this content is already there."
        if Trust(item.memory.trust).rank > Trust(twin.trust).rank:
            values = {"trust": item.memory.trust}
            may_approve = self.access.has(KeyScope.MEMORIES_APPROVE)
            if may_approve and twin.status == Status.DRAFT and item.memory.status == Status.ACCEPTED:
                values["status"] = Status.ACCEPTED.value
            change_memory(self.context, twin, Change("confirm_memory", values))
            reason += f" It is now trusted as {twin.trust}."
        twin_id = UUID(str(twin.pk))
        if retired := self._retire_target(item, twin):
            reason += " It replaces the memory named in `supersedes`."
            return WriteResult(twin, Outcome.SUPERSEDED, "exact_hash", reason, twin_id, retired, 1.0)
        return WriteResult(twin, Outcome.DUPLICATE, "exact_hash", reason, twin_id, similarity=1.0)

    def _retire_target(self, item: Prepared, successor: Memory) -> UUID | None:
        """What ``supersedes`` asked for also happens when the new text was there already (SUP-02); the old one's id."""
        if item.target is None or item.target.pk == successor.pk:
            return None
        old = check_successor(self.access, item.target.pk, lock=True)
        return UUID(str(old.pk)) if retire(self.context, old, successor) else None

    def _supersede(self, item: Prepared) -> WriteResult:
        old = check_successor(self.access, item.draft.supersedes or "", lock=True)
        memory = item.memory
        memory.save(force_insert=True)
        index_memories(self.context, [Indexable(memory, item.content)])
        self.audit.append(self._created(memory))
        self._remember(memory)
        retired = retire(self.context, old, memory)
        reason = "It replaces the memory named in `supersedes`."
        if not retired:
            reason = "It waits as a draft; accepting it will replace the memory named in `supersedes`."
            return WriteResult(memory, Outcome.CREATED, "supersedes", reason)
        return WriteResult(memory, Outcome.SUPERSEDED, "supersedes", reason, superseded_id=UUID(str(old.pk)))

    def _make_room(self, twin: Memory) -> None:
        """An expired memory must not swallow a fresh one: it is archived, which anybody can see and take back."""
        values = {"archived_at": now(), "archived_reason": "expired"}
        change_memory(self.context, twin, Change("archive_memory", values, "expired"))


def _unique_keys(item: Prepared) -> tuple[str, bytes]:
    return item.memory.external_write_id or "", bytes(item.memory.content_hash or b"")


def _is_live(row: Memory) -> bool:
    return row.archived_at is None and row.superseded_by_id is None and row.status != Status.DISCARD


def _may_see(access: Access, row: Memory) -> bool:
    """``visible_to`` for a row in hand."""
    if not access.may_use_bank(row.bank_id):
        return False
    if access.agent is None or row.agent_id == access.agent_id:
        return True
    return row.scope == Scope.GLOBAL and not access.agent.is_isolated


def _has_expired(row: Memory) -> bool:
    return row.expires_at is not None and row.expires_at <= now()

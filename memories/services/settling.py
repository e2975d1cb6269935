"""What becomes of each memory of a write, settled in this order (DESIGN "Deduplication, settled").

A known external id is an upsert; equal content of the same owner and type is a duplicate; an explicit ``supersedes``
retires the old memory; what says the same as a close memory is a duplicate too, the next version of a fact replaces
it, and what is merely close is kept and shown to a person; anything else is new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from banks.access import KeyScope
from banks.models import AuditEntry
from banks.services.audit import audit_entry
from memories.index.indexing import Indexable
from memories.jobs import JobKind
from memories.models import DuplicatePair, Memory
from memories.rules.dedup import NOTHING_LIKE_IT, Candidate, Decision, Verdict
from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import Outcome, Status, Trust
from memories.services.comparing import Comparing, Newcomer, compares_meaning
from memories.services.context import WriteContext
from memories.services.indexing import index_memories
from memories.services.jobs import enqueue_job
from memories.services.meeting import Met, is_live, may_see, meeting
from memories.services.outcomes import WriteResult
from memories.services.preparing import Prepared, Told, embed_prepared, prepare
from memories.services.pruning import prune_memories
from memories.services.revising import SAID, Change, added, change_memory, differs
from memories.services.superseding import AlreadySuperseded, check_successor, retire, rewritten_trust
from memories.services.upkeep import remember_upkeep
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, HubError, NotFound


class Raced(Exception):
    """What was looked up is not as it was; look again."""


_EXACTLY = Decision(Verdict.SKIP, "exact_hash", "A live memory with exactly this content is already there.")


class Batch:
    """One attempt. New memories and plain confirmations are collected and written together; the rest one by one."""

    def __init__(self, context: WriteContext, numbers: Sequence[int], told: Told | None = None) -> None:
        """``numbers``: the first document number of each draft, and the one after the last."""
        self.context = context
        self.access = context.access
        self.numbers = numbers
        self.told = told or Told()
        self.comparing = Comparing(context)
        self.newcomers: dict[UUID, Newcomer] = {}
        self.fresh: list[Prepared] = []
        self.added: list[Prepared] = []
        self.changed: list[Indexable] = []
        self.confirmed: list[UUID] = []
        #: Of these, those that are not locked yet, and the version that was compared.
        self.seen: dict[UUID, int] = {}
        self.pairs: list[DuplicatePair] = []
        self.asked: list[str] = []
        self.audit: list[AuditEntry] = []
        self.met = Met(self.comparing)

    def write(self, drafts: Sequence[MemoryDraft]) -> list[WriteResult | HubError]:
        """Each draft's fate, in order."""
        prepared = [self._prepared(*each) for each in zip(drafts, self.numbers, strict=False)]
        for item, new_id in zip(prepared, self.told.ids, strict=False):
            if isinstance(item, Prepared):
                item.memory.pk = new_id
        items = [item for item in prepared if isinstance(item, Prepared)]
        self._look_up(items)
        self._compare(items)
        results: list[WriteResult | HubError] = []
        for item in prepared:
            results.append(item if isinstance(item, HubError) else self._settle(item))
        self._finish()
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
                self.met.hold(row)

    def _compare(self, items: Sequence[Prepared]) -> None:
        """Vectors for all, and the neighbours of those that nothing exact decides about."""
        embed_prepared(self.context, items)
        moving = {value for item in items for value in _moves(item)} if len(items) > 1 else set()
        for item in items:
            if item.draft.supersedes is not None or self._meets_exactly(item, moving):
                continue
            settings = self.context.settings_in(item.memory.bank_id)
            if not compares_meaning(item.memory, item.content):
                continue
            by_text = not (settings["dedup_with_embeddings"] and self.context.wants_vectors)
            if by_text or item.vectors is not None:
                vector = None if by_text or item.vectors is None else item.vectors[0]
                self.newcomers[item.memory.pk] = Newcomer(item.memory, item.content, vector)
        self.comparing.prepare(list(self.newcomers.values()))

    def _meets_exactly(self, item: Prepared, moving: set[Any]) -> bool:
        """Whether an equal row decides about it, and will still be what it is when the item's turn comes."""
        if known := self.met.named(item.memory):
            return not moving or self._replay(item, known) is not None
        twin, _ = self.met.equal(item.memory)
        return twin is not None and moving.isdisjoint({twin.pk, twin.external_write_id, twin.fact_key})

    def _settle(self, item: Prepared) -> WriteResult | HubError:
        known = self.met.named(item.memory)
        if known is not None:
            return self._replay(item, known) or self._alone(lambda: self._upsert(item, known))
        twin, ended = self.met.equal(item.memory)
        if twin is not None:
            return self._duplicate(item, twin, _EXACTLY)
        for one in ended:
            self._make_room(one)
        if item.draft.supersedes is not None:
            return self._alone(lambda: self._supersede(item))
        return self._beside(item)

    def _beside(self, item: Prepared) -> WriteResult | HubError:
        """What the ladder says about a memory that is in nothing exactly like another."""
        newcomer = self.newcomers.get(item.memory.pk)
        decision = self.comparing.decide(newcomer) if newcomer else NOTHING_LIKE_IT
        other = self.comparing.there[decision.candidate.id] if decision.candidate else None
        if decision.verdict == Verdict.SKIP and other is not None:
            return self._duplicate(item, other, decision)
        if decision.verdict == Verdict.SUPERSEDE and other is not None:
            return self._alone(lambda: self._replace(item, other, decision))
        self.fresh.append(item)
        self._stands(item)
        if decision.candidate is None:
            return WriteResult(item.memory, Outcome.CREATED, decision.decided_by, decision.reason)
        pair_id = self._note(item, decision, decision.candidate)
        return WriteResult(
            item.memory,
            Outcome.CREATED,
            decision.decided_by,
            decision.reason,
            similarity=decision.candidate.similarity,
            similar_to=decision.candidate.id,
            pair_id=pair_id,
        )

    def _note(self, item: Prepared, decision: Decision, beside: Candidate) -> UUID | None:
        """Leave the pair to a person, or the memory to the checker."""
        if decision.verdict == Verdict.ASK:
            self.asked.append(str(item.memory.pk))
            return None
        pair = DuplicatePair(
            vault_id=self.access.vault_id,
            older_id=beside.id,
            newer_id=item.memory.pk,
            similarity=beside.similarity,
            kind=decision.kind.value,
            differences=sorted(beside.differences),
        )
        self.pairs.append(pair)
        return UUID(str(pair.pk))

    def _stands(self, item: Prepared) -> None:
        self.met.hold(item.memory)
        if newcomer := self.newcomers.get(item.memory.pk):
            self.comparing.remember(newcomer)

    def _alone(self, settle: Callable[[], WriteResult]) -> WriteResult | HubError:
        """One item in a savepoint, after the collected ones, so that it can meet them and fail without them."""
        self._insert_fresh()
        try:
            with transaction.atomic():
                return settle()
        except HubError as error:
            return error

    def _insert_fresh(self) -> None:
        if not self.fresh:
            return
        # In one order for everybody: two batches that insert the same keys wait for each other one way round.
        items, self.fresh = sorted(self.fresh, key=_unique_keys), []
        insert_rows(self.told.settled([item.memory for item in items]))
        index_memories(self.context, [item.indexable for item in items])
        self.audit += [self._created(item.memory) for item in items]
        self.added += items

    def _finish(self) -> None:
        self._insert_fresh()
        self._hold_seen()
        if self.confirmed:
            confirmed = Memory.objects.in_vault(self.access.vault_id).filter(pk__in=self.confirmed)
            confirmed.update(last_confirmed_at=now())
        if self.changed:
            # The last content of each is what counts: an item may be updated twice in one batch.
            latest = {indexable.memory.pk: indexable for indexable in self.changed}
            index_memories(self.context, list(latest.values()), replace=True)
        prune_memories(self.context, self.added)
        insert_rows(self.pairs)
        insert_rows(self.audit)
        if self.asked:
            enqueue_job(self.access.vault_id, JobKind.CHECK_UPDATES, {"memory_ids": self.asked})
        remember_upkeep(self.access.vault_id, self.numbers[0], self.numbers[-1] - self.numbers[0])

    def _hold_seen(self) -> None:
        """Lock what duplicates were found of. Raises Raced when one of them is no longer what was compared."""
        rows = Memory.objects.in_vault(self.access.vault_id).filter(pk__in=self.seen).order_by("id")
        held = rows.select_for_update(of=("self",), no_key=True).values_list("pk", "version")
        if self.seen and dict(held) != self.seen:
            raise Raced

    def _created(self, memory: Memory) -> AuditEntry:
        return audit_entry(self.access, added("write_memory", memory))

    def _replay(self, item: Prepared, known: Memory) -> WriteResult | None:
        """The same body again, which is answered without touching anything; None for any other (IDM-03)."""
        said = {name: value for name, value in item.given.items() if name in SAID}
        plain = known.pk in self.met.held and item.target is None and may_see(self.access, known)
        if not plain or any(differs(known, name, value) for name, value in said.items()):
            return None
        return WriteResult(known, Outcome.IDEMPOTENT, "external_write_id", "The same write was already there.")

    def _upsert(self, item: Prepared, known: Memory) -> WriteResult:
        """A replay changes nothing; another body updates in place and keeps the archive flag (IDM-01, 03…05)."""
        known = self._taken(known)
        changed_content = list[Indexable]()
        if not may_see(self.access, known):
            raise Conflict("This external_write_id belongs to a memory that this key does not reach.")
        values = {name: value for name, value in item.given.items() if name in SAID}
        if differs(known, "content", item.content):
            values["trust"] = rewritten_trust(self.context, known, Trust(item.memory.trust)).value
        changed = change_memory(self.context, known, Change("write_memory", values), changed_content)
        retired = self._retire_target(item, known)
        self.changed += changed_content
        if changed_content:
            self.met.forget(known)
            if (newcomer := self.newcomers.get(item.memory.pk)) and is_live(known):
                newcomer.memory = known
                self.comparing.remember(newcomer)
        self.met.renew(known)
        if retired:
            reason = "The memory with this id replaces the one named in `supersedes`."
            return WriteResult(known, Outcome.SUPERSEDED, "external_write_id", reason, superseded_id=retired)
        if not changed:
            return WriteResult(known, Outcome.IDEMPOTENT, "external_write_id", "The same write was already there.")
        names = ", ".join(sorted(changed))
        return WriteResult(
            known, Outcome.UPDATED, "external_write_id", f"The memory with this id was updated: {names}."
        )

    def _duplicate(self, item: Prepared, twin: Memory, decision: Decision) -> WriteResult | HubError:
        """Nothing new is stored; mostly there is only a date to note, which is done for all together."""
        lifts = decision is _EXACTLY and Trust(item.memory.trust).rank > Trust(twin.trust).rank
        if lifts or item.target is not None:
            return self._alone(lambda: self._confirm(item, twin, decision))
        if twin.pk not in self.met.held:
            self.seen[twin.pk] = twin.version
        twin.last_confirmed_at = now()
        self.confirmed.append(UUID(str(twin.pk)))
        return WriteResult.skipped(twin, decision, decision.reason)

    def _confirm(self, item: Prepared, twin: Memory, decision: Decision) -> WriteResult:
        """An exact duplicate from a more believed source lifts what was only assumed (DUP-11)."""
        seen, twin = twin.version, self._taken(twin)
        if not is_live(twin) or (decision is not _EXACTLY and twin.version != seen):
            raise Raced
        twin.last_confirmed_at = now()
        twin.save(update_fields=["last_confirmed_at"])
        reason = decision.reason
        if decision is _EXACTLY and Trust(item.memory.trust).rank > Trust(twin.trust).rank:
            values = {"trust": item.memory.trust}
            may_approve = self.access.has(KeyScope.MEMORIES_APPROVE)
            if may_approve and twin.status == Status.DRAFT and item.memory.status == Status.ACCEPTED:
                values["status"] = Status.ACCEPTED.value
            change_memory(self.context, twin, Change("confirm_memory", values))
            reason += f" It is now trusted as {twin.trust}."
        retired = self._retire_target(item, twin)
        self.met.renew(twin)
        if retired:
            reason += " It replaces the memory named in `supersedes`."
            twin_id = UUID(str(twin.pk))
            return WriteResult(twin, Outcome.SUPERSEDED, decision.decided_by, reason, twin_id, retired, 1.0)
        return WriteResult.skipped(twin, decision, reason)

    def _retire_target(self, item: Prepared, successor: Memory) -> UUID | None:
        """What ``supersedes`` asked for also happens when the new text was there already (SUP-02); the old one's id."""
        if item.target is None or item.target.pk == successor.pk:
            return None
        old = check_successor(self.access, item.target.pk, lock=True)
        if not retire(self.context, old, successor):
            return None
        self.met.forget(old)
        return UUID(str(old.pk))

    def _supersede(self, item: Prepared) -> WriteResult:
        old = check_successor(self.access, item.draft.supersedes or "", lock=True)
        if not self._retire_for(item, old, ""):
            reason = "It waits as a draft; accepting it will replace the memory named in `supersedes`."
            return WriteResult(item.memory, Outcome.CREATED, "supersedes", reason)
        reason = "It replaces the memory named in `supersedes`."
        return WriteResult(item.memory, Outcome.SUPERSEDED, "supersedes", reason, superseded_id=UUID(str(old.pk)))

    def _replace(self, item: Prepared, other: Memory, decision: Decision) -> WriteResult:
        """The next version of a fact takes its place (DUP-15, SUP-04)."""
        old = self._taken(other)
        if not is_live(old) or old.version != other.version or decision.candidate is None:
            raise Raced
        self._retire_for(item, old, decision.reason)
        return WriteResult(
            item.memory,
            Outcome.SUPERSEDED,
            decision.decided_by,
            decision.reason,
            superseded_id=UUID(str(old.pk)),
            similarity=decision.candidate.similarity,
            similar_to=decision.candidate.id,
        )

    def _retire_for(self, item: Prepared, old: Memory, reason: str) -> bool:
        memory = item.memory
        memory.save(force_insert=True)
        index_memories(self.context, [item.indexable])
        retired = retire(self.context, old, memory, reason)
        self.audit.append(self._created(memory))
        if retired:
            self.met.forget(old)
        self._stands(item)
        return retired

    def _taken(self, memory: Memory) -> Memory:
        """The row as it is now, locked, to be changed. Raises Raced when it was erased."""
        self.met.held.discard(memory.pk)
        found = Memory.objects.select_for_update(of=("self",), no_key=True).filter(pk=memory.pk).first()
        if found is None or self.seen.pop(memory.pk, found.version) != found.version:
            raise Raced
        return found

    def _make_room(self, twin: Memory) -> None:
        """An expired memory must not swallow a fresh one: it is archived, which anybody can see and take back."""
        values = {"archived_at": now(), "archived_reason": "expired"}
        change_memory(self.context, twin, Change("archive_memory", values, "expired"))
        self.met.forget(twin)


def _moves(item: Prepared) -> list[Any]:
    """By what a row is known that the item may rewrite or replace."""
    target = item.target.pk if item.target else None
    return [value for value in (target, item.memory.external_write_id, item.memory.fact_key) if value]


def _unique_keys(item: Prepared) -> tuple[str, bytes]:
    return item.memory.external_write_id or "", bytes(item.memory.content_hash or b"")

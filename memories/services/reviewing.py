"""Review drafts: let one be recalled, corrected first if need be; reject one, or all that one source left behind.

A rejection is a changeset and can be taken back as one; nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Value

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.models import Changeset, Memory
from memories.models.memory import MemoryQuerySet
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.vocabulary import PairKind, Status
from memories.search.filtering import matching
from memories.services.changesets import Moved, open_changeset, record_items
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.duplicates import pair_counts
from memories.services.editing import update_memory
from memories.services.lifecycle import change_status
from memories.services.revising import Change, change_memory, locked_memory
from memories.services.undoing import undo_whole
from memoryhub.lib.errors import Conflict, NotFound
from memoryhub.lib.ids import parse_id

REJECTED_MAX = 1_000
DUPLICATES = (PairKind.DUPLICATE, PairKind.NEAR)
_REJECT = "reject_drafts"
_DRAFTS = "drafts"


class DraftsChanged(Conflict):
    """There are not as many drafts as were shown; look at them again and confirm the new number."""

    code = "drafts_changed"


class ReviewUndone(Conflict):
    """This rejection was taken back already."""

    code = "review_undone"


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much waits for a person."""

    drafts: int
    duplicates: int
    contradictions: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.drafts + self.duplicates + self.contradictions


def count_waiting(access: Access) -> Waiting:
    """What the review queue holds for this caller. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    drafts = _drafts(access, MemoryFilter()).order_by().annotate(kind=Value(_DRAFTS)).values("kind")
    counted = drafts.annotate(n=Count("pk")).values_list("kind", "n").union(pair_counts(access), all=True).order_by()
    # One statement: it stands in the frame of every page.
    pairs = dict(counted)
    return Waiting(
        drafts=pairs.get(_DRAFTS, 0),
        duplicates=sum(pairs.get(kind, 0) for kind in DUPLICATES),
        contradictions=pairs.get(PairKind.CONTRADICTION, 0),
    )


@despite_deadlocks
def approve_draft(
    access: Access, memory_id: str | UUID, content: str | None = None, expected_version: int | None = None
) -> Memory:
    """Let agents recall a draft, with its text corrected when ``content`` is given. Needs memories:approve.

    Raises NotFound, StaleVersion, StatusMoveRefused, DuplicateContent, Invalid.
    """
    access.require(KeyScope.MEMORIES_APPROVE)
    with transaction.atomic():
        lock_chains(access.vault_id)
        memory = locked_memory(access, memory_id, expected_version)
        if content is not None and content != memory.content:
            update_memory(access, memory_id, MemoryChanges.parse({"content": content}))
        return change_status(access, memory_id, Status.ACCEPTED)


@despite_deadlocks
def reject_draft(access: Access, memory_id: str | UUID, reason: str = "") -> Changeset:
    """Discard one draft. Needs memories:approve. Raises NotFound, DraftsChanged when it is no draft any more."""
    access.require(KeyScope.MEMORIES_APPROVE)
    with transaction.atomic():
        return _reject(access, [parse_id(memory_id)], reason)


@despite_deadlocks
def reject_drafts(access: Access, wanted: MemoryFilter, expected_count: int, reason: str = "") -> Changeset:
    """Discard every draft that matches, at most 1,000, as one changeset. Needs memories:approve.

    Raises DraftsChanged unless there are exactly as many as whoever decided has seen.
    """
    access.require(KeyScope.MEMORIES_APPROVE)
    with transaction.atomic():
        ids = list(_drafts(access, wanted).order_by("pk").values_list("pk", flat=True)[: REJECTED_MAX + 1])
        if len(ids) != expected_count:
            raise DraftsChanged(
                f"{min(len(ids), REJECTED_MAX):,} drafts match now, not {expected_count:,}; look at them again."
                if len(ids) <= REJECTED_MAX
                else f"More than {REJECTED_MAX:,} drafts match; narrow them down and reject them in parts."
            )
        return _reject(access, ids, reason)


@despite_deadlocks
def undo_rejection(access: Access, changeset_id: str | UUID) -> int:
    """Make drafts of what a rejection discarded; how many. Needs memories:approve.

    Raises NotFound, ReviewUndone, ChangedSince, DuplicateContent.
    """
    access.require(KeyScope.MEMORIES_APPROVE)
    with transaction.atomic():
        found = Changeset.objects.select_for_update().filter(
            vault_id=access.vault_id, pk=parse_id(changeset_id), action=_REJECT
        )
        changeset = found.first()
        if changeset is None:
            raise NotFound("There is no such rejection in this vault.")
        if changeset.state == "undone":
            raise ReviewUndone
        undone = undo_whole(access, changeset)
        record_audit(access, Audited("undo_rejection", "changeset", changeset.pk))
    return undone


def _drafts(access: Access, wanted: MemoryFilter) -> MemoryQuerySet:
    """The drafts that wait, whatever else the filter says."""
    return matching(access, wanted.model_copy(update={"status": StatusFilter.DRAFT, "archived": Presence.FALSE}))


def _reject(access: Access, ids: Sequence[UUID], reason: str) -> Changeset:
    changeset = open_changeset(access, _REJECT, reason)
    context, moved = WriteContext.of(access), []
    for memory_id in ids:
        memory = locked_memory(access, memory_id)
        if memory.status != Status.DRAFT:
            raise DraftsChanged("Somebody decided about one of these drafts meanwhile; look at them again.")
        before = memory.version
        change_memory(context, memory, Change(_REJECT, {"status": Status.DISCARD.value}, reason, changeset.pk))
        moved.append(Moved(memory.pk, before, memory.version))
    record_items(changeset, moved)
    return changeset

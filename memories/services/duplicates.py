"""The review list of close pairs: what waits, what a person decides, and taking a decision back.

A decision is remembered with its pair, so the same two memories are never shown again; what it changed in the memories
is one changeset.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.models import Changeset, DuplicatePair, Memory
from memories.models.memory import LIVE
from memories.rules.drafts import Resolution
from memories.rules.limits import ENTITIES_MAX, TAGS_MAX
from memories.rules.trust import lower, trust_of_writer
from memories.rules.vocabulary import PairDecision, PairKind, PairState, Side, Trust
from memories.services.changesets import Moved, open_changeset, record_items
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.context import WriteContext
from memories.services.preparing import check_length
from memories.services.revising import Change, change_memory, locked_memory
from memories.services.superseding import check_successor, retire, rewritten_trust
from memories.services.undoing import undo_whole
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, FieldError, Invalid, NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text

STATE_OF = {
    PairDecision.KEEP_BOTH: PairState.KEPT_BOTH,
    PairDecision.MERGE: PairState.MERGED,
    PairDecision.SUPERSEDE: PairState.SUPERSEDED,
    PairDecision.NOT_DUPLICATE: PairState.NOT_DUPLICATE,
}


class PairDecided(Conflict):
    """Somebody decided about this pair already; reopen it first to decide anew."""

    code = "pair_decided"


class PairOpen(Conflict):
    """Nothing was decided about this pair yet, so there is nothing to take back."""

    code = "pair_open"


@dataclass(frozen=True, slots=True)
class PairPage:
    """Pairs with both memories loaded, newest first; ``total`` counts all that match."""

    items: list[DuplicatePair]
    next_cursor: str | None
    total: int


def list_pairs(
    access: Access,
    state: PairState = PairState.OPEN,
    kinds: Collection[PairKind] = (),
    limit: int = 50,
    cursor: str | None = None,
) -> PairPage:
    """A page of pairs whose memories the caller may both see; open ones only while both live. Needs memories:read.

    Raises CursorInvalid, CursorMismatch.
    """
    access.require(KeyScope.MEMORIES_READ)
    rows = _waiting(access) if state == PairState.OPEN else _visible(access).filter(state=state.value)
    if kinds:
        rows = rows.filter(kind__in=[kind.value for kind in kinds])
    query = query_text(access.vault_id, access.actor.id, "pairs", state.value, sorted(kinds))
    page = rows
    if cursor:
        at, pair_id = decode_cursor(cursor, query).position
        edge = dt.datetime.fromisoformat(str(at))
        page = rows.filter(Q(created_at__lt=edge) | Q(created_at=edge, id__lt=UUID(str(pair_id))))
    found = list(page.select_related("older__bank", "newer__bank").order_by("-created_at", "-id")[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    following = encode_cursor([last.created_at.isoformat(), str(last.pk)], query) if last else None
    return PairPage(found[:limit], following, rows.count())


def count_pairs(access: Access) -> dict[PairKind, int]:
    """How many pairs of each kind wait for a decision. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return {PairKind(kind): count for kind, count in pair_counts(access)}


def pair_counts(access: Access) -> QuerySet[DuplicatePair, tuple[str, int]]:
    """The same as rows of a query that can be put together with others."""
    return _waiting(access).order_by().values("kind").annotate(n=Count("pk")).values_list("kind", "n")


def _waiting(access: Access) -> QuerySet[DuplicatePair]:
    """Open pairs; what was archived, discarded or replaced meanwhile needs no decision, and restored waits again."""
    living = Memory.objects.in_vault(access.vault_id).filter(LIVE, superseded_by=None).values("pk")
    return _visible(access).filter(state=PairState.OPEN.value, older__in=living, newer__in=living)


def get_pair(access: Access, pair_id: str | UUID) -> DuplicatePair:
    """One pair with both memories. Needs memories:read. Raises NotFound, also when either memory is hidden."""
    access.require(KeyScope.MEMORIES_READ)
    rows = _visible(access).select_related("older__bank", "newer__bank")
    found = rows.filter(pk=parse_id(pair_id)).first()
    if found is None:
        raise NotFound("There is no such pair in this vault.")
    return found


def _visible(access: Access) -> QuerySet[DuplicatePair]:
    seen = Memory.objects.visible_to(access).values("pk")
    return DuplicatePair.objects.filter(vault_id=access.vault_id, older__in=seen, newer__in=seen)


@despite_deadlocks
def resolve_pair(access: Access, pair_id: str | UUID, resolution: Resolution) -> DuplicatePair:
    """Decide about an open pair: keep both, merge, let one replace the other, or note that they are different things.

    Merging writes the merged content into one memory (the older by default) and lets it replace the other; superseding
    keeps the newer by default. Needs memories:write. Raises NotFound, PairDecided, Invalid, TrustTooLow,
    AlreadySuperseded, DuplicateContent.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        pair = _locked(access, pair_id)
        if pair.state != PairState.OPEN:
            raise PairDecided
        if resolution.decision in (PairDecision.MERGE, PairDecision.SUPERSEDE):
            pair.changeset = _join(access, pair, resolution)
        pair.state = STATE_OF[resolution.decision].value
        pair.decided_by_kind, pair.decided_by_id = access.actor.kind, access.actor.id
        pair.decided_at, pair.reason = now(), resolution.reason or None
        pair.save()
        record_audit(access, Audited("resolve_pair", "duplicate_pair", pair.pk, changeset_id=pair.changeset_id))
    return pair


@despite_deadlocks
def reopen_pair(access: Access, pair_id: str | UUID) -> DuplicatePair:
    """Take a decision back: memories it changed are as they were before, and the pair waits again.

    Needs memories:write. Raises NotFound, PairOpen, and ChangedSince when a memory was changed after the decision.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        pair = _locked(access, pair_id)
        if pair.state == PairState.OPEN:
            raise PairOpen
        if pair.changeset is not None:
            undo_whole(access, pair.changeset)
            pair = _locked(access, pair_id)  # with both memories as they are now
        pair.state, pair.changeset = PairState.OPEN.value, None
        pair.decided_by_kind = pair.decided_by_id = ""
        pair.decided_at = pair.reason = None
        pair.save()
        record_audit(access, Audited("reopen_pair", "duplicate_pair", pair.pk))
    return pair


def _locked(access: Access, pair_id: str | UUID) -> DuplicatePair:
    """The pair, locked, and after it both memories in one order. Raises NotFound."""
    lock_chains(access.vault_id)
    pair = DuplicatePair.objects.select_for_update().filter(vault_id=access.vault_id, pk=parse_id(pair_id)).first()
    if pair is None:
        raise NotFound("There is no such pair in this vault.")
    try:
        ends = {end: locked_memory(access, end) for end in sorted([pair.older_id, pair.newer_id])}
    except NotFound:
        raise NotFound("There is no such pair in this vault.") from None
    pair.older, pair.newer = ends[pair.older_id], ends[pair.newer_id]
    return pair


def _join(access: Access, pair: DuplicatePair, resolution: Resolution) -> Changeset:
    """Let one memory of the pair stand for both; everything it takes is one changeset."""
    usual = Side.OLDER if resolution.decision == PairDecision.MERGE else Side.NEWER
    keeps_older = (resolution.keep or usual) == Side.OLDER
    kept, other = (pair.older, pair.newer) if keeps_older else (pair.newer, pair.older)
    check_successor(access, other.pk)
    action = "merge_pair" if resolution.decision == PairDecision.MERGE else "supersede_memory"
    changeset = open_changeset(access, action, resolution.reason)
    context, before = WriteContext.of(access), {kept.pk: kept.version, other.pk: other.version}
    # First the other one goes: the merged text may be just what it said.
    if not retire(context, other, kept, resolution.reason or action, changeset.pk):
        raise Conflict("The memory to keep is not accepted yet; accept it first.")
    if resolution.decision == PairDecision.MERGE:
        values = _merged(context, kept, other, resolution.content)
        change_memory(context, kept, Change(action, values, resolution.reason, changeset.pk))
    record_items(changeset, [Moved(memory.pk, before[memory.pk], memory.version) for memory in (kept, other)])
    return changeset


def _merged(context: WriteContext, kept: Memory, other: Memory, content: str | None) -> dict[str, object]:
    """The kept memory's new values: the merged text, labels of both, and no more trust than either deserved."""
    if content is None:
        raise Invalid(errors=[FieldError("/content", "required", "is the text that replaces both")])
    check_length(content, context.settings_in(kept.bank_id)["content_max_length"])
    access = context.access
    writer = trust_of_writer(access.actor.kind, Trust(access.agent.trust_ceiling) if access.agent else Trust.VERIFIED)
    return {
        "content": content,
        "tags": list(dict.fromkeys([*kept.tags, *other.tags]))[:TAGS_MAX],
        "entities": list(dict.fromkeys([*kept.entities, *other.entities]))[:ENTITIES_MAX],
        "trust": lower(rewritten_trust(context, kept, writer), Trust(other.trust)).value,
    }

"""Write facts found in conversations, each as the next version of what it replaces (SUP-01, DUP-01, DEF-17)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from banks.access import Access
from memories.models import DuplicatePair, Memory
from memories.rules.drafts import MemoryDraft
from memories.rules.renewal import Renewal, renewal_of
from memories.rules.trust import default_source, may_supersede, trust_of
from memories.rules.vocabulary import Difference, MemoryType, Outcome, PairKind, Scope, Status, Trust
from memories.services.contention import MAX_RACES, WriteContended
from memories.services.meeting import has_expired
from memories.services.superseding import AlreadySuperseded
from memories.services.writing import WriteResult, write_batch
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.errors import HubError

type Results = Sequence[WriteResult | HubError]


class _Overtaken(Exception):
    """Somebody else replaced what was to be replaced; look again."""


def write_facts(access: Access, drafts: Sequence[MemoryDraft], together_with: Callable[[Results], None]) -> None:
    """Write them with ``together_with``, as `write_batch` does. Raises as that.

    An older statement with the same fact key, of the same user, namespace and type, is superseded by a newer one, or
    listed beside it for review. What is protected, a constraint or believed more stays.
    """
    for _ in range(MAX_RACES):
        beside = [_older(access, draft) for draft in drafts]
        renewed = [_renewing(draft, older) for draft, older in zip(drafts, beside, strict=True)]

        def note(results: Results, beside: Sequence[Sequence[Memory]] = beside) -> None:
            if any(isinstance(result, AlreadySuperseded) for result in results):
                raise _Overtaken
            _list_disputes(results, beside)
            together_with(results)

        try:
            write_batch(access, renewed, note)
        except _Overtaken:
            continue
        return
    raise WriteContended


def _older(access: Access, draft: MemoryDraft) -> list[Memory]:
    """Live heads with the draft's fact key that it could replace, the newest first."""
    if not draft.fact_key:
        return []
    rows = Memory.objects.visible_to(access).live().filter(fact_key=draft.fact_key, superseded_by=None)
    rows = rows.filter(status=Status.ACCEPTED, type=draft.type.value, namespace=list(draft.namespace))
    rows = rows.filter(scope=Scope.GLOBAL, is_protected=False).exclude(type=MemoryType.CONSTRAINT)
    rows = rows.filter(user_id=draft.user_id) if draft.user_id else rows.filter(user_id__isnull=True)
    ceiling = Trust(access.agent.trust_ceiling) if access.agent else Trust.VERIFIED
    trust = trust_of(draft.source_kind or default_source(access.actor.kind), ceiling)
    return [row for row in rows.order_by("-created_at", "-id")[:20] if _yields(row, trust)]


def _yields(row: Memory, trust: Trust) -> bool:
    kept = Trust(row.trust)
    return trust.rank >= kept.rank and may_supersede(trust, kept) and not has_expired(row)


def _renewing(draft: MemoryDraft, older: Sequence[Memory]) -> MemoryDraft:
    """The draft as the next version of the newest that it replaces; one said again is left to the ladder."""
    replaced = [row for row in older if _renewal(row, draft.content, draft.fact_key) is Renewal.REPLACES]
    return draft.model_copy(update={"supersedes": str(replaced[0].pk)}) if replaced else draft


def _renewal(row: Memory, content: str, key: str | None) -> Renewal:
    try:
        return renewal_of(row.content, content, key or "")
    except (DecryptionError, UnknownKey):
        return Renewal.BESIDE


def _list_disputes(results: Results, beside: Sequence[Sequence[Memory]]) -> None:
    pairs = [
        _pair(older, result.memory)
        for result, rows in zip(results, beside, strict=True)
        if not isinstance(result, HubError) and result.outcome == Outcome.CREATED
        for older in rows
        if _renewal(older, result.memory.content, older.fact_key) is Renewal.DISPUTES
    ]
    DuplicatePair.objects.bulk_create(pairs, ignore_conflicts=True)


def _pair(older: Memory, newer: Memory) -> DuplicatePair:
    return DuplicatePair(
        vault_id=newer.vault_id,
        older=older,
        newer=newer,
        similarity=SequenceMatcher(None, older.content[:900], newer.content[:900], autojunk=False).ratio(),
        kind=PairKind.CONTRADICTION.value,
        differences=[Difference.NEGATION.value],
    )

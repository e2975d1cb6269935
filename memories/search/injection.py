"""``format_for_injection``: what an agent should be reminded of, as a text for its prompt (INJ-01…07).

With a question it is a search with a higher threshold. Without one it is the core of what is remembered: everything
but episodes and tasks, the most important, surest and most lately confirmed first.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models.functions import Coalesce

from banks.access import Access, KeyScope
from banks.models.agent import PreferredBank
from memories.models import Memory
from memories.models.effective import config_version, remembered_settings
from memories.models.memory import MemoryQuerySet
from memories.rules.filters import ContextQuery, SearchQuery
from memories.rules.injection import RULES, Budget, Entry, Injection, compose
from memories.rules.vocabulary import MemoryType, Trust
from memories.search.filtering import matching
from memories.search.opening import open_in_order
from memories.search.recall import SearchAnswer, ask_legs, rank, understand

#: Tiers below hold what happened and what is to do; the core holds what is known (TIE-01).
CORE = frozenset(set(MemoryType) - {MemoryType.EPISODIC, MemoryType.TASK})
#: As many memories as are ever looked at for one text, and how many are opened at a time.
LOOKED_AT, PAGE = 2_000, 100
_MARK_LENGTH = 16


@dataclass
class Context:
    """The text with its tokens and memories, what was missing while it was made, and how many did not open."""

    injection: Injection = field(default_factory=Injection)
    degraded: list[str] = field(default_factory=list)
    unreadable: int = 0


def format_for_injection(access: Access, query: ContextQuery) -> Context:
    """The memories worth their place in a prompt, never more than ``max_tokens``. Needs memories:read.

    Raises UnknownBank. An agent's preferred banks hold unless the query names some (INJ-03, BNK-08).
    """
    access.require(KeyScope.MEMORIES_READ)
    known = remembered_settings(access, config_version(access.vault_id))
    answer, broken = SearchAnswer(), list[UUID]()
    wanted = _in_preferred_banks(access, query)
    if wanted is None:
        return Context()
    core = _core(access, wanted, known)
    # What nobody vouches for has no claim on the reserved part.
    rules = _ids(core.filter(type__in=RULES).exclude(trust=Trust.UNTRUSTED.value))
    others = _found(access, wanted, known, answer) if wanted.query else _ids(core)
    injection = compose(
        _entries(access, _first_of(rules, others), broken),
        _entries(access, others, broken),
        Budget(wanted.max_tokens or known["context_max_tokens"], known["context_reserved_share"]),
        "".join(secrets.choice(string.ascii_lowercase) for _ in range(_MARK_LENGTH)),
    )
    missing = ["unreadable"] if broken else []
    return Context(injection, [*answer.degraded, *missing], len(set(broken)))


def _in_preferred_banks(access: Access, query: ContextQuery) -> ContextQuery | None:
    """The query with the banks that hold for it; None when the key reaches none of those its agent prefers."""
    if query.banks or access.agent is None:
        return query
    preferred = PreferredBank.objects.filter(vault_id=access.vault_id, agent_id=access.agent.pk)
    banks = list(preferred.order_by("bank_id").values_list("bank_id", flat=True))
    reached = [str(bank) for bank in banks if access.may_use_bank(bank)]
    if banks and not reached:
        return None
    return query.model_copy(update={"banks": reached})


def _core(access: Access, query: ContextQuery, known: Mapping[str, Any]) -> MemoryQuerySet:
    floor = query.min_trust or Trust(known["min_trust"])
    return matching(access, query.filters().model_copy(update={"min_trust": floor, "type": query.type or sorted(CORE)}))


def _ids(rows: MemoryQuerySet) -> list[UUID]:
    confirmed = Coalesce("last_confirmed_at", "created_at")
    ordered = rows.order_by("-importance", "-confidence", confirmed.desc(), "-id")
    return list(ordered.values_list("pk", flat=True)[:LOOKED_AT])


def _found(access: Access, query: ContextQuery, known: Mapping[str, Any], answer: SearchAnswer) -> Sequence[UUID]:
    both = type(query).model_fields.keys() & SearchQuery.model_fields.keys()
    shared = {name: value for name in both if (value := getattr(query, name)) != []}
    threshold = known["vector_similarity_threshold"] if query.threshold is None else query.threshold
    asked = understand(access, SearchQuery.model_validate({**shared, "threshold": threshold}))
    return rank(asked, ask_legs(asked, answer)).memories if asked else []


def _first_of(rules: Sequence[UUID], order: Sequence[UUID]) -> list[UUID]:
    """The rules that bear on what was asked before those that hold anyway."""
    places = {memory_id: place for place, memory_id in enumerate(order)}
    return sorted(rules, key=lambda rule: places.get(rule, len(places)))


def _entries(access: Access, ids: Sequence[UUID], broken: list[UUID]) -> Iterator[Entry]:
    for _, memory in open_in_order(access, ids, PAGE, broken):
        yield _entry(memory)


def _entry(memory: Memory) -> Entry:
    return Entry(memory.pk, memory.type, memory.trust, (memory.event_at or memory.created_at).date(), memory.content)

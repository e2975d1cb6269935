"""Which old memories of a vault would become summaries, and why: found without changing anything (CLU-03…09, CLU-17).

A cluster never crosses a bank, namespace, user, agent or scope, and what is untrusted never mixes with the rest: it
would drag down the trust of everything it was summarised with.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import BinaryField, F, Func, Q, QuerySet

from banks.access import Access
from banks.services.banks import remembered_banks
from memories.models import Embedding, Memory
from memories.rules.calibration import own_cosine, reference_similarity
from memories.rules.cells import Vectors
from memories.rules.clusters import Cluster, ClusterRule, Strategy, find_clusters, labels_of
from memories.rules.pruning import RESERVED
from memories.rules.vocabulary import MemoryCategory, Status, Trust
from memories.services.context import WriteContext
from memoryhub.lib.clock import now

_COLUMNS = ("id", "fact_key", "tags", "bank_id", "namespace", "user_id", "agent_id", "scope", "trust")
#: What decides about clusters in a bank.
_KEYS = (
    "draft_threshold",
    "summarization_min_memory_age_days",
    "summarization_min_cluster_size",
    "summarization_max_cluster_size",
    "summarization_strategy",
    "summarization_similarity_threshold",
)
_VECTOR_HEADER = 4
_READ_AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """Memories that may become one, oldest first, and why; similarities on the reference scale, None for labels."""

    bank_id: UUID
    memory_ids: tuple[UUID, ...]
    strategy: str
    least: float | None
    mean: float | None
    #: Fact keys and tags that at least two of them share.
    shared: tuple[str, ...]


def old_memories(
    access: Access, bank_ids: Collection[UUID], settings: Mapping[str, Any], at: dt.datetime | None = None
) -> QuerySet[Memory]:
    """What of these banks may be summarised: recallable, older than 7 days, unprotected, no summary (CLU-03, CLU-17).

    Constraints and corrections stay word for word, as they do at a limit. What is to expire would live on in a summary,
    and what a person had to approve would skip that: both stay too.
    """
    at = at or now()
    lowest = Trust(settings["draft_threshold"]).rank
    believed = [trust.value for trust in Trust if trust.rank >= lowest]
    rows = Memory.objects.visible_to(access).filter(bank_id__in=bank_ids, archived_at=None, superseded_by=None)
    rows = rows.filter(status=Status.ACCEPTED.value, expires_at=None, is_protected=False, is_summarized=False)
    rows = rows.filter(Q(category=None) | ~Q(category=MemoryCategory.SUMMARY.value), trust__in=believed)
    young = at - dt.timedelta(days=settings["summarization_min_memory_age_days"])
    return rows.exclude(type__in=[kind.value for kind in RESERVED]).filter(created_at__lt=young)


def group_of(memory: Memory) -> tuple[Any, ...]:
    """What members of a cluster must share."""
    return _group(memory.bank_id, memory.namespace, memory.user_id, memory.agent_id, memory.scope, memory.trust)


def _group(bank_id: UUID, namespace: Sequence[str], *more: str | None) -> tuple[Any, ...]:
    user, agent, scope, trust = more
    return bank_id, tuple(namespace), user or "", agent or "", scope, trust == Trust.UNTRUSTED


def has_old_memories(access: Access) -> bool:
    """Whether there is anything a run could look at."""
    context = WriteContext.of(access)
    return any(
        old_memories(access, bank_ids, settings).exists()
        for settings, bank_ids in _with_settings(context, summarized_banks(context))
    )


def summarized_banks(context: WriteContext) -> list[UUID]:
    """The banks the caller reaches in which memories are summarised at all (CLU-01, CFG-01)."""
    banks = remembered_banks(context.access.vault_id, context.config_version)
    reached = [UUID(str(bank.pk)) for bank in banks if context.access.may_use_bank(bank.pk)]
    return [bank_id for bank_id in reached if context.settings_in(bank_id)["enable_summarization"]]


def _with_settings(context: WriteContext, bank_ids: Iterable[UUID]) -> list[tuple[Mapping[str, Any], list[UUID]]]:
    """The banks by the settings that hold in them; mostly one set for all, so that one question is enough."""
    found = dict[tuple[Any, ...], tuple[Mapping[str, Any], list[UUID]]]()
    for bank_id in bank_ids:
        settings = context.settings_in(bank_id)
        found.setdefault(tuple(settings[key] for key in _KEYS), (settings, []))[1].append(bank_id)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Old:
    """The clear columns of the candidates of one group, oldest first."""

    ids: list[UUID]
    labels: list[frozenset[str]]


def clusters_in(
    context: WriteContext, bank_ids: Sequence[UUID], most: int | None = None
) -> tuple[list[FoundCluster], int]:
    """The clusters of these banks, oldest first within a group, and among how many memories: ``most``, or all."""
    found, examined = list[FoundCluster](), 0
    for settings, alike in _with_settings(context, bank_ids):
        left = None if most is None else most - examined
        groups = _groups(old_memories(context.access, alike, settings), left)
        found += _in_groups(context, _rule(context, settings), groups)
        examined += sum(len(group.ids) for group in groups.values())
    return found, examined


def _groups(rows: QuerySet[Memory], most: int | None) -> dict[tuple[Any, ...], _Old]:
    groups: dict[tuple[Any, ...], _Old] = defaultdict(lambda: _Old([], []))
    columns = rows.order_by("created_at", "id")[:most].values_list(*_COLUMNS)
    for memory_id, fact_key, tags, *sharing in columns.iterator(_READ_AT_ONCE):
        group = groups[_group(*sharing)]
        group.ids.append(memory_id)
        group.labels.append(labels_of(fact_key, tags))
    return groups


def _in_groups(
    context: WriteContext, rule: ClusterRule, groups: Mapping[tuple[Any, ...], _Old]
) -> Iterator[FoundCluster]:
    large = {key: group for key, group in groups.items() if len(group.ids) >= rule.smallest}
    wanted = {memory_id for group in large.values() for memory_id in group.ids}
    banks = {key[0] for key in large}
    by_meaning = bool(large) and rule.strategy is not Strategy.TAGS
    placed = _vectors(context, banks, wanted) if by_meaning else None
    for key in sorted(large):
        yield from _in_group(context, key[0], rule, large[key], placed)


def _rule(context: WriteContext, settings: Mapping[str, Any]) -> ClusterRule:
    floor, space = settings["summarization_similarity_threshold"], context.space
    return ClusterRule(
        strategy=Strategy(settings["summarization_strategy"]),
        floor=own_cosine(space.embedder.name, space.embedder.model, floor) if space else floor,
        smallest=settings["summarization_min_cluster_size"],
        largest=settings["summarization_max_cluster_size"],
    )


type _Placed = tuple[Vectors, dict[UUID, int]]


def _vectors(context: WriteContext, bank_ids: Collection[UUID], wanted: Collection[UUID]) -> _Placed | None:
    """The unit vectors of the candidates, and the row of each; None without a space (DEG-02)."""
    if context.space is None:
        return None
    rows = Embedding.objects.filter(vault_id=context.access.vault_id, space_id=context.space.space_id, unit=0)
    sent = Func(F("vector"), function="halfvec_send", output_field=BinaryField())
    chosen = rows.filter(memory__bank_id__in=bank_ids, memory__archived_at=None).values_list("memory_id", sent)
    vectors, row_of = np.empty((len(wanted), context.space.embedder.dimensions), dtype=np.float32), dict[UUID, int]()
    for memory_id, raw in chosen.iterator(_READ_AT_ONCE):
        if memory_id in wanted:
            vectors[len(row_of)] = np.frombuffer(bytes(raw)[_VECTOR_HEADER:], ">f2")
            row_of[memory_id] = len(row_of)
    vectors = vectors[: len(row_of)]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return vectors, row_of


def _in_group(
    context: WriteContext, bank_id: UUID, rule: ClusterRule, group: _Old, placed: _Placed | None
) -> Iterator[FoundCluster]:
    inside = None
    if placed is not None:
        vectors, row_of = placed
        there = [place for place, memory_id in enumerate(group.ids) if memory_id in row_of]
        group = _Old([group.ids[place] for place in there], [group.labels[place] for place in there])
        inside = vectors[[row_of[memory_id] for memory_id in group.ids]]
    for one in find_clusters(rule, group.labels, inside):
        yield _named(context, bank_id, rule, group, one)


def _named(context: WriteContext, bank_id: UUID, rule: ClusterRule, group: _Old, one: Cluster) -> FoundCluster:
    members = tuple(group.ids[place] for place in one.places)
    least, mean = (_on_reference_scale(context, cosine) for cosine in (one.least, one.mean))
    strategy = Strategy.TAGS if one.least is None else rule.strategy
    return FoundCluster(bank_id, members, strategy, least, mean, one.shared)


def _on_reference_scale(context: WriteContext, cosine: float | None) -> float | None:
    if cosine is None or context.space is None:
        return cosine
    return round(reference_similarity(context.space.embedder.name, context.space.embedder.model, cosine), 4)

"""Clean-up, dry run: what the rules would archive and why. Changes nothing (CLN-06, API-10)."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import batched
from typing import Any
from uuid import UUID

from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import CleanupExemption, Memory
from memories.models.memory import MemoryQuerySet
from memories.rules.cleanup import (
    CleanupRule,
    Subject,
    Thresholds,
    Verdict,
    count_by_reason,
    reasons_to_archive,
)
from memories.rules.cleanupclusters import Cluster, clusters_of
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.filters import MemoryFilter
from memories.rules.querylanguage import parse
from memories.rules.vocabulary import IndexState, MemoryType, Status
from memories.search.filtering import narrowed, understand
from memories.services.context import WriteContext
from memories.services.twins import find_likenesses, twins_of
from memoryhub.lib.clock import now
from memoryhub.lib.errors import FieldError, Invalid

SHOWN_MAX = 1_000
FETCHED = 5_000
_COLUMNS = (
    "id",
    "type",
    "importance",
    "created_at",
    "updated_at",
    "index_state",
    "superseded_by_id",
    "expires_at",
    "last_accessed_at",
    "version",
    "bank_id",
)


class QueryNotUnderstood(Invalid):
    """Not all of the query could be understood, and a clean-up must not guess; correct what `errors` names."""

    code = "query_not_understood"


@dataclass(frozen=True, slots=True)
class Found:
    """What the rules name, oldest first, each once; and the clusters of those that say the same."""

    verdicts: list[Verdict]
    clusters: list[Cluster]
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory the rules name, with every reason."""

    memory: Memory
    reasons: tuple[CleanupRule, ...]


@dataclass(frozen=True, slots=True)
class CleanupPreview:
    """What would be archived: how many, by which rule, and the first 1,000 of them, oldest first."""

    count: int
    by_reason: dict[str, int]
    candidates: list[Candidate]
    thresholds: Thresholds


def plan_cleanup(access: Access, rules: Collection[CleanupRule] | None = None) -> CleanupPreview:
    """What a clean-up by ``rules`` (the seed's four by default) would archive now; nothing is kept of it.

    Needs cleanup:plan.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    found = find_candidates(access, CleanupWish(rules=list(rules) if rules else None))
    verdicts, shown = found.verdicts, found.verdicts[:SHOWN_MAX]
    rows = Memory.objects.visible_to(access).select_related("bank").in_bulk([verdict.id for verdict in shown])
    candidates = [Candidate(rows[verdict.id], verdict.reasons) for verdict in shown if verdict.id in rows]
    return CleanupPreview(len(verdicts), count_by_reason(verdicts), candidates, found.thresholds)


def find_candidates(access: Access, wish: CleanupWish) -> Found:
    """What the rules name among the memories the caller sees. Raises QueryNotUnderstood."""
    context, at, rules = WriteContext.of(access), now(), wish.wanted
    limits = _Limits(context)
    likenesses = find_likenesses(access, rules, context.settings["cleanup_near_similarity"])
    clusters = clusters_of(likenesses, twins_of(access, likenesses)) if likenesses else []
    exempt = _exemptions(access)
    clusters = [one for cluster in clusters if (one := _without(cluster, exempt)).others]
    named: dict[UUID, set[CleanupRule]] = defaultdict(set)
    for cluster in clusters:
        for likeness in cluster.others:
            named[likeness.other].add(likeness.rule)
    rows = _rows(_possible(access, at, limits.widest(), rules).order_by("created_at", "id"))
    if wish.query is not None:
        matching = _rows(_matching(access, wish.query))
        rows |= matching
        for memory_id in matching:
            named[memory_id].add(CleanupRule.QUERY)
    missing = sorted(named.keys() - rows.keys())
    for part in batched(missing, FETCHED):
        rows |= _rows(_living(access).filter(pk__in=part))
    kept = {cluster.keeper for cluster in clusters}
    verdicts = []
    for row in sorted(rows.values(), key=lambda row: (row[3], row[0])):
        subject = replace(_subject(row), named=frozenset(named.get(row[0], ())), exempt=exempt.get(row[0], frozenset()))
        reasons = () if subject.id in kept else reasons_to_archive(subject, at, limits.of(row[-1]), rules)
        if reasons:
            verdicts.append(Verdict(subject.id, reasons, subject.version))
    return Found(verdicts, clusters, limits.of(None))


class _Limits:
    """Thresholds of the vault, and of banks that have their own."""

    def __init__(self, context: WriteContext) -> None:
        self.context = context
        self.known: dict[UUID | None, Thresholds] = {None: _thresholds(context.settings)}

    def of(self, bank_id: UUID | None) -> Thresholds:
        """What holds in a bank; None: in the vault."""
        if bank_id is not None and bank_id not in self.known:
            self.known[bank_id] = _thresholds(self.context.settings_in(bank_id))
        return self.known[bank_id]

    def widest(self) -> Thresholds:
        """Thresholds that leave out nothing any bank means, for SQL to look with."""
        for bank_id in Memory.objects.visible_to(self.context.access).values_list("bank_id", flat=True).distinct():
            self.of(bank_id)
        all_of = self.known.values()
        return Thresholds(
            episodic_age=min(one.episodic_age for one in all_of),
            episodic_importance=max(one.episodic_importance for one in all_of),
            stale_after=min(one.stale_after for one in all_of),
            stale_importance=max(one.stale_importance for one in all_of),
            unrecalled_after=min(one.unrecalled_after for one in all_of),
        )


def _thresholds(settings: Mapping[str, Any]) -> Thresholds:
    return Thresholds(
        episodic_age=dt.timedelta(days=settings["cleanup_episodic_age_days"]),
        episodic_importance=settings["cleanup_episodic_importance"],
        stale_after=dt.timedelta(days=settings["cleanup_stale_days"]),
        stale_importance=settings["cleanup_stale_importance"],
        unrecalled_after=dt.timedelta(days=settings["cleanup_unrecalled_days"]),
    )


def _living(access: Access) -> MemoryQuerySet:
    rows = Memory.objects.visible_to(access).filter(archived_at=None, is_protected=False)
    return rows.exclude(status=Status.DISCARD)


def _possible(access: Access, at: dt.datetime, limits: Thresholds, rules: Collection[CleanupRule]) -> MemoryQuerySet:
    """Rows a rule could name; the rules decide, SQL only leaves out what none of them can mean."""
    stale = at - limits.episodic_age
    means = {
        CleanupRule.STALE_EPISODIC: Q(
            type=MemoryType.EPISODIC, created_at__lt=stale, importance__lte=limits.episodic_importance
        ),
        CleanupRule.LOW_STALE: Q(importance__lte=limits.stale_importance, updated_at__lt=at - limits.stale_after),
        CleanupRule.FAILED_INDEXING: Q(index_state=IndexState.FAILED),
        CleanupRule.SUPERSEDED: Q(superseded_by__isnull=False),
        CleanupRule.EXPIRED: Q(expires_at__lte=at),
        CleanupRule.NEVER_RECALLED: Q(last_accessed_at=None, created_at__lt=at - limits.unrecalled_after),
    }
    possible = Q(pk__in=[])
    for rule in rules:
        possible |= means.get(rule, Q(pk__in=[]))
    return _living(access).filter(possible)


def _matching(access: Access, query: str) -> MemoryQuerySet:
    asked = understand(access, MemoryFilter(q=query))
    if asked.mistakes:
        errors = [FieldError("/query", "not_understood", f"{one.message} {one.hint}".strip()) for one in asked.mistakes]
        raise QueryNotUnderstood(errors=errors)
    if _says_nothing(query):
        error = FieldError(
            "/query", "names_nothing", "looks for nothing, and would mean every memory; say what to find"
        )
        raise QueryNotUnderstood(errors=[error])
    return narrowed(access, asked.given).filter(archived_at=None, is_protected=False).exclude(status=Status.DISCARD)


def _says_nothing(query: str) -> bool:
    """Whether no part of it holds a letter, a digit or a sign to look for: `""` and `-""` find everything in a list."""
    asked = parse(query)
    sayings = (*asked.words, *asked.phrases)
    return not asked.terms and not any(any(not one.isspace() for one in saying.text) for saying in sayings)


def _rows(found: MemoryQuerySet) -> dict[UUID, tuple[Any, ...]]:
    # Plain values: building a model for every old row would cost more than finding it.
    return {row[0]: row for row in found.values_list(*_COLUMNS).iterator(FETCHED)}


def _subject(row: tuple[Any, ...]) -> Subject:
    memory_id, kind, importance, created_at, updated_at, index_state, successor, expires_at, accessed, version, _ = row
    return Subject(
        id=memory_id,
        type=MemoryType(kind),
        importance=importance,
        created_at=created_at,
        updated_at=updated_at,
        index_state=IndexState(index_state),
        superseded=successor is not None,
        expires_at=expires_at,
        recalled=accessed is not None,
        version=version,
    )


def _exemptions(access: Access) -> dict[UUID, frozenset[CleanupRule]]:
    """Memory → the rules a person never wants to hear of it again."""
    found: dict[UUID, set[CleanupRule]] = defaultdict(set)
    rows: Iterable[tuple[UUID, str]] = CleanupExemption.objects.filter(vault_id=access.vault_id).values_list(
        "memory_id", "rule"
    )
    for memory_id, rule in rows:
        found[memory_id].add(CleanupRule(rule))
    return {memory_id: frozenset(rules) for memory_id, rules in found.items()}


def _without(cluster: Cluster, exempt: Mapping[UUID, frozenset[CleanupRule]]) -> Cluster:
    others = tuple(one for one in cluster.others if one.rule not in exempt.get(one.other, frozenset()))
    return replace(cluster, others=others)

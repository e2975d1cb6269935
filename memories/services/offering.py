"""Clusters before anything happens to them: looked at, estimated, and chosen by a person (CLU-13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope, mandate_of
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_bank
from memories.jobs import JobKind
from memories.models import ClusterSummary, Job, Memory
from memories.rules.clustersummary import estimated_cost
from memories.rules.vocabulary import JobState
from memories.services.clustering import FoundCluster, clusters_in, group_of, old_memories, summarized_banks
from memories.services.consolidating import ACTION, extracted_text, fingerprint_of, sources_of
from memories.services.context import WriteContext
from memories.services.jobs import enqueue_job
from memoryhub.lib.crypto import keyed_hash
from memoryhub.lib.errors import Conflict, FieldError, Invalid
from memoryhub.lib.ids import parse_id
from memoryhub.providers.registry import get_chat_model

#: Somebody waits for a preview: it looks at the oldest memories of a large vault, a run at all of them.
LOOKED_AT = 20_000
CHOSEN_MAX = 500


class SummarizationOff(Conflict):
    """Summaries are switched off here; set `enable_summarization` for the vault or for one of its banks."""

    code = "summarization_off"


@dataclass(frozen=True, slots=True)
class OfferedCluster:
    """A cluster with its memories, oldest first, and about how many tokens its summary would take; 0 without a model.

    ``was_undone``: the same texts were summarised once and it was taken back; only a person's choice does it again.
    ``text``: what the summary would be, where no model is asked; None where none can be made that is shorter.
    """

    found: FoundCluster
    memories: list[Memory]
    tokens: int
    was_undone: bool
    text: str | None


@dataclass(frozen=True, slots=True)
class ClusterPreview:
    """The first clusters of ``total``, found among ``examined`` memories, which may not be all that are old enough."""

    clusters: list[OfferedCluster]
    total: int
    examined: int
    is_whole: bool
    has_model: bool
    is_on: bool


def preview_clusters(access: Access, bank: str | None = None, limit: int = 50) -> ClusterPreview:
    """What a run would summarise now, in one bank or all of them; changes nothing and asks no model.

    Needs cleanup:plan. Raises UnknownBank.
    """
    access.require(KeyScope.CLEANUP_PLAN)
    context = WriteContext.of(access)
    banks = summarized_banks(context)
    if bank is not None:
        wanted = UUID(str(find_bank(access, bank).pk))
        banks = [one for one in banks if one == wanted]
    found, examined = clusters_in(context, banks, LOOKED_AT)
    return ClusterPreview(
        clusters=_offered(context, found[:limit]),
        total=len(found),
        examined=examined,
        is_whole=examined < LOOKED_AT,
        has_model=get_chat_model() is not None,
        is_on=bool(banks),
    )


def _offered(context: WriteContext, clusters: Sequence[FoundCluster]) -> list[OfferedCluster]:
    access = context.access
    ids = [memory_id for one in clusters for memory_id in one.memory_ids]
    rows = Memory.objects.visible_to(access).select_related("bank").in_bulk(ids)
    members = [[rows[one] for one in cluster.memory_ids if one in rows] for cluster in clusters]
    prints = [fingerprint_of(access, each) for each in members]
    known = ClusterSummary.objects.filter(vault_id=access.vault_id, fingerprint__in=[one for one in prints if one])
    undone = {bytes(one) for one in known.values_list("fingerprint", flat=True)}
    has_model = get_chat_model() is not None
    return [
        OfferedCluster(
            found=cluster,
            memories=each,
            tokens=estimated_cost(sources_of(each)) if has_model and fingerprint else 0,
            was_undone=fingerprint in undone,
            text=extracted_text(context, each) if fingerprint and not has_model else None,
        )
        for cluster, each, fingerprint in zip(clusters, members, prints, strict=True)
    ]


def summarize_memories(access: Access, clusters: Sequence[Sequence[str | UUID]] | None = None) -> Job:
    """Start a run over everything that is old enough, or over the clusters named by their memories; the job.

    Needs cleanup:apply. Raises SummarizationOff, and Invalid for a cluster that cannot become one summary.
    """
    access.require(KeyScope.CLEANUP_APPLY)
    context = WriteContext.of(access)
    if not summarized_banks(context):
        raise SummarizationOff
    ref: dict[str, Any] = {"mandate": mandate_of(access)}
    if clusters is not None:
        named = _checked(context, clusters)
        ref["clusters"] = [[str(one) for one in ids] for ids in named]
    key = keyed_hash(access.keys.dedup, repr(sorted(ref.items())).encode(), 16).hex()
    with transaction.atomic():
        enqueue_job(access.vault_id, JobKind.SUMMARIZE_MEMORIES, ref, dedupe_key=key)
        waiting = Job.objects.filter(vault_id=access.vault_id, kind=JobKind.SUMMARIZE_MEMORIES, dedupe_key=key)
        job = waiting.get(state=JobState.PENDING)
        record_audit(access, Audited(ACTION, "job", job.pk))
    return job


def _checked(context: WriteContext, clusters: Sequence[Sequence[str | UUID]]) -> list[list[UUID]]:
    named = [[parse_id(one) for one in ids] for ids in clusters]
    counted = Counter(one for ids in named for one in ids)
    rows = Memory.objects.visible_to(context.access).in_bulk(counted)
    fit = {one for bank_id in {row.bank_id for row in rows.values()} for one in _fitting(context, bank_id, rows)}
    errors = []
    for place, ids in enumerate(named):
        if why := _refusal(context, [rows[one] for one in ids if one in fit], ids, counted):
            errors.append(FieldError(f"/clusters/{place}", *why))
    if errors:
        raise Invalid(errors=errors)
    return named


def _fitting(context: WriteContext, bank_id: UUID, rows: Iterable[UUID]) -> set[UUID]:
    settings = context.settings_in(bank_id)
    if not settings["enable_summarization"]:
        return set()
    return set(old_memories(context.access, [bank_id], settings).filter(pk__in=list(rows)).values_list("pk", flat=True))


def _refusal(
    context: WriteContext, members: Sequence[Memory], ids: Sequence[UUID], counted: Counter[UUID]
) -> tuple[str, str] | None:
    if any(counted[one] > 1 for one in ids):
        return "named_twice", "names a memory that is named already"
    if len(members) < len(ids):
        return "not_summarizable", "names a memory that is unknown, protected, too young or not to be summarised"
    if len({group_of(row) for row in members}) != 1:
        return "crosses_scopes", "mixes memories of several banks, users, agents or namespaces"
    settings = context.settings_in(members[0].bank_id)
    smallest, largest = settings["summarization_min_cluster_size"], settings["summarization_max_cluster_size"]
    if not smallest <= len(members) <= largest:
        return "cluster_size", f"must name {smallest} to {largest} memories"
    return None

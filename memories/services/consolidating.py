"""Clusters of old memories become one short memory each; the originals are archived and can be brought back (CLU).

A model is asked, or sentences are chosen, outside any transaction. Then one transaction writes the summary and archives
what it stands for, if none of that was changed meanwhile: a run of many clusters can be killed between any two.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from django.db import transaction

from banks.access import Access, acting_under
from banks.services.audit import record_audit
from memories.index.indexing import Indexable, units_of
from memories.models import Changeset, ClusterSummary, Job, Link, Memory
from memories.rules import limits
from memories.rules.clusterextract import extracted_summary
from memories.rules.clusters import labels_of, shared_labels
from memories.rules.clustersummary import Consolidated, Source, accepted_text, cluster_prompt
from memories.rules.consolidated import common, prevailing, tags_of, united
from memories.rules.trust import lower
from memories.rules.vocabulary import MemoryCategory, Purpose, Relation, SourceKind, Trust
from memories.services.archiving import archive_many
from memories.services.changesets import Moved, open_changeset, record_items
from memories.services.clustering import FoundCluster, clusters_in, group_of, old_memories, summarized_banks
from memories.services.contention import despite_deadlocks
from memories.services.context import WriteContext, allocate_documents
from memories.services.indexing import expected_state, index_memories
from memories.services.jobs import finish_job, hold_job, report_progress
from memories.services.modelcalls import ModelQuestion, ModelUnavailable, ask_model
from memories.services.revising import added
from memories.services.unsummarizing import archived_for
from memories.services.upkeep import remember_upkeep
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import CryptoError, keyed_hash
from memoryhub.lib.ids import new_id
from memoryhub.lib.metrics import MEMORIES_SUMMARIZED
from memoryhub.lib.text import content_fingerprint
from memoryhub.providers.chat import Turn, UnreadableAnswer
from memoryhub.providers.registry import get_chat_model, get_embedder

log = structlog.get_logger(__name__)
ACTION = "summarize_memories"
CHOSEN = "chosen"
FINGERPRINT_BYTES = 16


@dataclass(frozen=True, slots=True)
class _Written:
    """A summary before it is a memory."""

    text: str
    by_model: bool


def write_summaries(access: Access, job: Job) -> int:
    """Body of the job: summarise the clusters it names, or all there are, and finish it; how many summaries.

    Every cluster commits by itself, all in one changeset. Raises ModelUnavailable, JobLost.
    """
    if "mandate" in job.ref:
        access = acting_under(access, job.ref["mandate"])
    context = WriteContext.of(access)
    report_progress(job, 0, 1, "finding clusters")
    chosen = job.ref.get("clusters")
    clusters = _all(context) if chosen is None else _named(context, chosen)
    made = refused = 0
    for done, cluster in enumerate(clusters):
        report_progress(job, done, len(clusters), "summarising")
        fate = _summarize(context, job, cluster, again=chosen is not None)
        made, refused = made + (fate is True), refused + (fate is None)
    report_progress(job, len(clusters), len(clusters), _outcome(made, refused))
    with transaction.atomic():
        finish_job(job)
    return made


def _outcome(made: int, refused: int) -> str:
    told = f"{made} summaries" if made != 1 else "1 summary"
    return f"{told}, {refused} without a usable text" if refused else told


def _all(context: WriteContext) -> list[FoundCluster]:
    return clusters_in(context, summarized_banks(context))[0]


def _named(context: WriteContext, chosen: Sequence[Sequence[str]]) -> list[FoundCluster]:
    """What somebody chose, as far as it is still there; whether it may be summarised is asked when its turn comes."""
    rows = Memory.objects.visible_to(context.access).in_bulk({UUID(one) for ids in chosen for one in ids})
    found = []
    for ids in chosen:
        members = sorted(
            (rows[UUID(one)] for one in ids if UUID(one) in rows), key=lambda row: (row.created_at, row.pk)
        )
        members.sort(key=_age)
        if members and len(members) == len(ids):
            shared = shared_labels([labels_of(row.fact_key, row.tags) for row in members])
            found.append(FoundCluster(members[0].bank_id, tuple(row.pk for row in members), CHOSEN, None, None, shared))
    return found


def _summarize(context: WriteContext, job: Job, cluster: FoundCluster, *, again: bool) -> bool | None:
    """Whether a summary was written; None where there was no usable text, which changes nothing (CLU-18)."""
    members = _members(context, cluster)
    if not members:
        return False
    fingerprint = fingerprint_of(context.access, members)
    if fingerprint is None:
        return False
    # What was summarised once and undone since is somebody's decision, as long as its texts are the same (CLU-19).
    if not again and ClusterSummary.objects.filter(vault_id=context.access.vault_id, fingerprint=fingerprint).exists():
        return False
    written = _text(context, members)
    if written is None:
        return None
    return _replace(context, job, _Cluster(cluster, members, fingerprint), written)


def _members(context: WriteContext, cluster: FoundCluster, *, lock: bool = False) -> list[Memory]:
    """The cluster's memories, oldest first; none when one of them may not be summarised (any more)."""
    settings = context.settings_in(cluster.bank_id)
    rows = old_memories(context.access, [cluster.bank_id], settings).filter(pk__in=cluster.memory_ids)
    rows = rows.order_by("id")
    found = list(rows.select_for_update(of=("self",), no_key=True) if lock else rows)
    whole = len(found) == len(cluster.memory_ids) and len({group_of(row) for row in found}) == 1
    return sorted(found, key=_age) if whole else []


def _age(row: Memory) -> tuple[dt.datetime, UUID]:
    return row.created_at, row.pk


def fingerprint_of(access: Access, members: Sequence[Memory]) -> bytes | None:
    """What a cluster of the same memories with the same texts shares; None where a text cannot be opened."""
    try:
        parts = sorted(row.pk.bytes + content_fingerprint(row.content).encode() for row in members)
    except CryptoError:
        return None
    return keyed_hash(access.keys.dedup, b"\0".join(parts), FINGERPRINT_BYTES)


def sources_of(members: Sequence[Memory]) -> list[Source]:
    """The members as a summary reads them."""
    return [Source(row.event_at or row.created_at, row.content, row.fact_key) for row in members]


def _text(context: WriteContext, members: Sequence[Memory]) -> _Written | None:
    by_model = get_chat_model() is not None
    text = _asked(context.access, members, sources_of(members)) if by_model else extracted_text(context, members)
    return _Written(text, by_model) if text is not None and len(text) <= _longest(context, members) else None


def _longest(context: WriteContext, members: Sequence[Memory]) -> int:
    return int(context.settings_in(members[0].bank_id)["content_max_length"])


def _asked(access: Access, members: Sequence[Memory], sources: Sequence[Source]) -> str | None:
    """The model's summary if it can be used. Raises ModelUnavailable, which leaves the rest for later (CLU-18)."""
    instructions, material = cluster_prompt(sources, secrets.token_hex(8))
    question = ModelQuestion(
        Purpose.SUMMARIZE_MEMORIES,
        (Turn("system", instructions), Turn("user", material)),
        Consolidated,
        subjects=[row.pk for row in members],
        required=True,
    )
    try:
        answer = ask_model(access, question)
    except ModelUnavailable as error:
        if isinstance(error.__cause__, UnreadableAnswer):
            return None  # one cluster the model cannot put into words must not hold up the others
        raise
    return accepted_text(answer.value.summary) if answer.value else None


def extracted_text(context: WriteContext, members: Sequence[Memory]) -> str | None:
    """The summary made of sentences of the members, oldest first; None where nothing would be saved."""
    embedder = get_embedder()
    embed = embedder.embed if embedder is not None and embedder.local else None
    text = extracted_summary(sources_of(members), embed)
    return text if text is not None and len(text) <= _longest(context, members) else None


@dataclass(frozen=True, slots=True)
class _Cluster:
    found: FoundCluster
    members: list[Memory]
    fingerprint: bytes


@despite_deadlocks
def _replace(context: WriteContext, job: Job, cluster: _Cluster, written: _Written) -> bool:
    """Write the summary and archive its sources, together; not when one of them changed meanwhile."""
    access, seen = context.access, {row.pk: row.version for row in cluster.members}
    units = len(units_of(written.text))
    numbers = allocate_documents(access.vault_id, units)
    with transaction.atomic():
        hold_job(job)
        members = _members(context, cluster.found, lock=True)
        if {row.pk: row.version for row in members} != seen:
            return False
        changeset = _changeset(access, job)
        summary = _summary(context, members, written)
        summary.doc_no = numbers.first_doc_no
        archive_many(context, members, changeset, archived_for(summary.pk))
        insert_rows([summary])
        index_memories(context, [Indexable(summary, written.text)])
        _record(access, changeset, cluster, summary, written)
        remember_upkeep(access.vault_id, numbers.first_doc_no, units)
    MEMORIES_SUMMARIZED.inc(len(members))
    log.info(
        f"Summarized {len(members)} memories into 1",
        vault_id=str(access.vault_id),
        memory_id=str(summary.pk),
        changeset_id=str(changeset.pk),
        by_model=written.by_model,
    )
    return True


def _changeset(access: Access, job: Job) -> Changeset:
    """The one changeset of the job's run; its row remembers it, also for the attempt that goes on after a kill."""
    ref = Job.objects.values_list("ref", flat=True).get(pk=job.pk)
    if known := ref.get("changeset"):
        return Changeset.objects.get(vault_id=access.vault_id, pk=known)
    changeset = open_changeset(access, ACTION)
    Job.objects.filter(pk=job.pk).update(ref={**ref, "changeset": str(changeset.pk)})
    return changeset


def _summary(context: WriteContext, members: Sequence[Memory], written: _Written) -> Memory:
    first, at = members[0], now()
    trust = Trust(first.trust)
    for row in members:
        trust = lower(trust, Trust(row.trust))
    return Memory(
        vault_id=first.vault_id,
        bank_id=first.bank_id,
        content=written.text,
        type=prevailing([row.type for row in members]),
        category=MemoryCategory.SUMMARY.value,
        role=common(row.role for row in members),
        importance=max(row.importance for row in members),
        confidence=min(row.confidence for row in members),
        entities=united((row.entities for row in members), limits.ENTITIES_MAX),
        tags=tags_of((row.tags for row in members), limits.TAGS_MAX),
        fact_key=common(row.fact_key for row in members),
        is_summarized=True,
        summarized_from=[row.pk for row in members],
        namespace=first.namespace,
        scope=first.scope,
        user_id=first.user_id,
        agent_id=first.agent_id,
        session_id=common(row.session_id for row in members),
        task_id=common(row.task_id for row in members),
        source_kind=(SourceKind.LLM_DERIVED if written.by_model else SourceKind.AGENT_INFERRED).value,
        trust=trust.value,
        # It competes with nobody for its text: its sources may say the same and must be able to come back.
        content_hash=None,
        dedup_agent=common(row.dedup_agent for row in members),
        index_state=expected_state(context).value,
        event_at=max((row.event_at for row in members if row.event_at), default=None),
        created_at=at,
        updated_at=at,
    )


def _record(access: Access, changeset: Changeset, cluster: _Cluster, summary: Memory, written: _Written) -> None:
    vault_id, found = access.vault_id, cluster.found
    insert_rows(
        [
            Link(id=new_id(), vault_id=vault_id, source=summary, target=row, relation=Relation.DERIVED_FROM.value)
            for row in cluster.members
        ]
    )
    record_items(changeset, [Moved(summary.pk, 0, summary.version)])
    ClusterSummary.objects.create(
        vault_id=vault_id,
        memory=summary,
        changeset=changeset,
        fingerprint=cluster.fingerprint,
        strategy=found.strategy,
        similarity=found.least,
        shared=list(found.shared),
        members=len(cluster.members),
        by_model=written.by_model,
    )
    record_audit(access, added(ACTION, summary, changeset.pk))

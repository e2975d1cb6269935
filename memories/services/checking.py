"""What is decided about a memory after its write was acknowledged: by the update checker, or by vectors made later.

A language model takes seconds and may be away, so no write waits for it: the memory is stored, and a job asks. Its
decision changes memories like any other change: as versions with a reason, in a changeset, never by losing one.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from django.db import transaction

from banks.access import Access, Actor, reaching_as
from banks.models import AuditEntry
from memories.jobs import JobKind
from memories.models import DuplicatePair, Embedding, Job, Memory
from memories.rules.dedup import Candidate, Decision, Verdict, decide, kind_of
from memories.rules.differences import FACTUAL, merges
from memories.rules.trust import lower, may_rewrite, may_supersede
from memories.rules.updates import QUESTION, UpdateAnswer, UpdateDecision, question_about, read_decision
from memories.rules.vocabulary import MemoryType, Purpose, Status, Trust, UpdateAction
from memories.services.changesets import Moved, open_changeset, record_items
from memories.services.comparing import Comparing, Newcomer, compares_meaning, labelled_differently
from memories.services.contention import lock_chains
from memories.services.context import WriteContext
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memories.services.modelcalls import ModelQuestion, ModelUnavailable, ask_model
from memories.services.revising import Change, change_memory
from memories.services.superseding import retire
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.providers.chat import Turn, UnreadableAnswer


def check_updates(access: Access, job: Job) -> int:
    """Ask the update checker about the job's memories and do as it says; how many were settled.

    A job that is tried again goes on where it stopped. Raises ModelUnavailable, so that the work is deferred, JobLost.
    """
    ids = [UUID(each) for each in job.ref["memory_ids"]]
    for place in range(job.done, len(ids)):
        report_progress(job, place, len(ids), "asking the update checker")
        _check(access, job, ids[place])
    with transaction.atomic():
        finish_job(job)
    return len(ids)


def settle_unchecked(access: Access, job: Job) -> None:
    """Leave to a person what a dead job did not come to."""
    for memory_id in [UUID(each) for each in job.ref["memory_ids"]][job.done :]:
        compare_embedded(access, [memory_id], ask=False)


def compare_embedded(access: Access, memory_ids: Sequence[UUID], *, ask: bool = True) -> None:
    """Compare memories whose vectors were made after their write; what is close waits for a person or the checker."""
    asked = []
    for memory_id in memory_ids:
        context = _in_reach_of_writer(access, memory_id)
        comparing = Comparing(context)
        newcomer = _newcomer(context, memory_id)
        if newcomer is None:
            continue
        comparing.prepare([newcomer])
        decision = comparing.decide(newcomer)
        if decision.verdict == Verdict.ASK and ask:
            asked.append(str(memory_id))
        elif decision.candidate is not None:
            _leave_to_a_person(newcomer.memory, decision.candidate)
    if asked:
        with transaction.atomic():
            enqueue_job(access.vault_id, JobKind.CHECK_UPDATES, {"memory_ids": asked})


def _in_reach_of_writer(access: Access, memory_id: UUID) -> WriteContext:
    """What its writer's key could not reach is neither compared with a memory, nor merged into it (BNK-02)."""
    changes = AuditEntry.objects.filter(vault_id=access.vault_id, target_kind="memory", target_id=memory_id)
    wrote = changes.order_by("id").values_list("actor_kind", "actor_id").first()
    return WriteContext.of(access if wrote is None else reaching_as(access, Actor(*wrote, "")))


def _newcomer(context: WriteContext, memory_id: UUID) -> Newcomer | None:
    """The memory as it is now with its one vector; None when it does not count, open or compare any more."""
    access, space = context.access, context.space
    memory = Memory.objects.visible_to(access).live().filter(pk=memory_id, superseded_by=None).first()
    if memory is None or space is None:
        return None
    try:
        content = memory.content
    except (DecryptionError, UnknownKey):
        return None
    vectors = list(
        Embedding.objects.filter(memory=memory, space_id=space.space_id).values_list("vector", flat=True)[:2]
    )
    if len(vectors) != 1 or not compares_meaning(memory, content):
        return None
    return Newcomer(memory, content, np.array(vectors[0], np.float32))


def _check(access: Access, job: Job, memory_id: UUID) -> None:
    context = _in_reach_of_writer(access, memory_id)
    newcomer = _newcomer(context, memory_id)
    if newcomer is None:
        return
    comparing = Comparing(context)
    comparing.prepare([newcomer])
    candidates = comparing.candidates(newcomer)
    if not candidates:
        return
    others = [comparing.there[one.id] for one in candidates]
    said = _asked(access, newcomer, others)
    seen = {newcomer.memory.pk: newcomer.memory.version} | {other.pk: other.version for other in others}
    with transaction.atomic():
        hold_job(job)
        lock_chains(access.vault_id)
        rows = Memory.objects.in_vault(access.vault_id).select_for_update(of=("self",), no_key=True)
        now_there = {row.pk: row for row in rows.filter(pk__in=seen).order_by("id")}
        if {key: row.version for key, row in now_there.items()} != seen:
            return  # somebody changed one of them meanwhile, and knew better
        if said is None:
            _without_checker(context, now_there, newcomer, decide(candidates, comparing.plain_ladder(newcomer)))
        elif said.target is not None:
            beside = next(one for one in candidates if one.id == said.target)
            _do(context, now_there[memory_id], now_there[said.target], beside, said)


def _asked(access: Access, newcomer: Newcomer, others: Sequence[Memory]) -> UpdateDecision | None:
    """The checker's decision; None when there is no model to ask. Raises ModelUnavailable."""
    question = ModelQuestion(
        purpose=Purpose.CHECK_UPDATE,
        turns=(
            Turn("system", QUESTION),
            Turn("user", question_about(newcomer.content, [other.content for other in others])),
        ),
        schema=UpdateAnswer,
        subjects=[newcomer.memory.pk, *(other.pk for other in others)],
        required=True,
    )
    ids = [UUID(str(other.pk)) for other in others]
    try:
        answer = ask_model(access, question)
    except ModelUnavailable as error:
        if isinstance(error.__cause__, UnreadableAnswer):
            return read_decision(None, ids)
        raise
    return None if answer.value is None else read_decision(answer.value, ids)


def _without_checker(context: WriteContext, rows: dict[UUID, Memory], newcomer: Newcomer, decision: Decision) -> None:
    """What the ladder says where there is nobody to ask; what it would have skipped is shown to a person instead."""
    if decision.candidate is None:
        return
    new, old = rows[newcomer.memory.pk], rows[decision.candidate.id]
    if decision.verdict == Verdict.SUPERSEDE:
        retire(context, old, new, decision.reason)
    else:
        _leave_to_a_person(new, decision.candidate)


def _do(context: WriteContext, new: Memory, old: Memory, beside: Candidate, said: UpdateDecision) -> None:
    """Carry a decision out as far as the rules allow; where they do not, a person looks at the pair."""
    if not _allowed(new, old, beside, said.action) or not _mergeable(context, new, old, said.merged_content):
        _leave_to_a_person(new, beside)
        return
    changeset = open_changeset(context.access, "check_update", said.reason or "")
    before = {new.pk: new.version, old.pk: old.version}
    reason = said.reason or f"update checker: {said.action.value}"
    if said.action == UpdateAction.SUPERSEDE:
        retire(context, old, new, reason, changeset.pk)
    else:
        retire(context, new, old, reason, changeset.pk)
    if said.action == UpdateAction.UPDATE:
        values = {"content": said.merged_content, "trust": lower(Trust(old.trust), Trust(new.trust)).value}
        change_memory(context, old, Change("check_update", values, reason, changeset.pk))
    record_items(changeset, [Moved(row.pk, before[row.pk], row.version) for row in (old, new)])


def _allowed(new: Memory, old: Memory, beside: Candidate, action: UpdateAction) -> bool:
    """Whether the rules let the checker do that: no fact is skipped, nothing protected or better believed falls."""
    if action == UpdateAction.SKIP:
        return not beside.differences & FACTUAL and beside.stands
    guarded = old.is_protected or old.type == MemoryType.CONSTRAINT
    both_stand = old.status == Status.ACCEPTED and new.status == Status.ACCEPTED
    if guarded or not both_stand:
        return False
    kept, said = Trust(old.trust), Trust(new.trust)
    if action == UpdateAction.UPDATE:
        return may_rewrite(said, kept, Trust.VERIFIED) and may_supersede(kept, said)
    same_key = bool(old.fact_key) and old.fact_key == new.fact_key
    return said.rank >= kept.rank and (same_key or not beside.differences & FACTUAL)


def _mergeable(context: WriteContext, new: Memory, old: Memory, merged: str | None) -> bool:
    """Whether a merged text may take the place of both: it fits, and no fact is lost, changed or made up."""
    if merged is None:
        return True
    if len(merged) > context.settings_in(old.bank_id)["content_max_length"]:
        return False
    return not labelled_differently(old, new) and merges(merged, old.content, new.content)


def _leave_to_a_person(new: Memory, beside: Candidate) -> None:
    older, newer = sorted([beside.id, UUID(str(new.pk))])
    if DuplicatePair.objects.filter(vault_id=new.vault_id, older_id=newer, newer_id=older).exists():
        return
    pair = DuplicatePair(
        vault_id=new.vault_id,
        older_id=older,
        newer_id=newer,
        similarity=beside.similarity,
        kind=kind_of(beside.differences).value,
        differences=sorted(beside.differences),
    )
    DuplicatePair.objects.bulk_create([pair], ignore_conflicts=True)

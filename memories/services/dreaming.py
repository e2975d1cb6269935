"""Dream: read the notes and the core document, make the next version of it, write down why (TIE-05, TIE-07, DEF-19).

Everything but the wording is decided by `memories.rules.consolidation`, with or without a language model. A model is
shown one section at a time, so that nothing of one bank gets into a line of another; an answer that cannot be used
changes nothing at all. The version before stays as it was, and the new one commits with the diary and the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.calls.guarding import ModelUnavailable
from memories.events import EventType
from memories.models import CoreVersion, Dream, Happened, Job, Memory, record_events
from memories.rules.consolidation import Change, Consolidated, What, consolidate
from memories.rules.coretext import Audience, CoreLine, Held
from memories.rules.dreaming import INSTRUCTIONS, Dreamt, Section, offered, question_about, read_answer
from memories.rules.promotion import PromotionRules
from memories.rules.vocabulary import DreamState, Purpose
from memories.services.context import WriteContext
from memories.services.dreamreading import Reading, digest_of, read_notes
from memories.services.dreams import ask_nightly, locked_document
from memories.services.jobs import finish_job, hold_job, report_progress
from memories.services.modelcalls import ModelQuestion, ask_model
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict
from memoryhub.providers.chat import Turn, UnreadableAnswer
from memoryhub.providers.registry import get_chat_model

log = structlog.get_logger(__name__)
_FINISHED = (DreamState.DONE, DreamState.UNCHANGED)


class DreamRejected(Conflict):
    """What the language model made of the core document cannot be used; the document stays as it is."""

    code = "dream_rejected"


class DreamOvertaken(Conflict):
    """Somebody changed the core document, or erased what it is made of, meanwhile; the dream begins anew."""

    code = "dream_overtaken"


def run_dream(access: Access, job: Job) -> int:
    """Dream the job's dream, or ask for all of the night, and finish the job; how many lines or dreams.

    Raises ModelUnavailable, DreamOvertaken, JobLost.
    """
    if "dream" not in job.ref:
        return ask_nightly(access, job)
    dream = Dream.objects.filter(vault_id=access.vault_id, pk=UUID(job.ref["dream"])).first()
    if dream is None or dream.state not in {DreamState.WAITING, DreamState.FAILED}:
        return _leave(job)
    settings = WriteContext.of(access).settings
    rules, way = PromotionRules.of(settings), _way()
    reading = read_notes(access, dream, now().date())
    before = digest_of(access, reading, reading.material.lines, rules, way)
    if not reading.line_ids or before == _last_digest(access, dream):
        return _skip(dream, job, "nothing_new" if reading.line_ids else "nothing_noted")
    report_progress(job, 0, len(reading.line_ids), "consolidating")
    result = consolidate(reading.material, rules)
    try:
        worded = _worded(access, job, result, reading, settings) if way else result
    except DreamRejected as error:
        return _reject(dream, job, error.message)
    dream.by_model = bool(way)
    dream.input_hash = digest_of(access, reading, [one.line for one in worded.lines], rules, way)
    return _write(access, job, dream, reading, worded)


def _way() -> str:
    model = get_chat_model()
    return f"{model.name} {model.model}" if model else ""


def _last_digest(access: Access, dream: Dream) -> bytes | None:
    ended = Dream.objects.filter(vault_id=access.vault_id, namespace=dream.namespace, state__in=_FINISHED)
    last = ended.order_by("-finished_at").first()
    return bytes(last.input_hash) if last and last.input_hash else None


def _leave(job: Job) -> int:
    with transaction.atomic():
        finish_job(job)
    return 0


def _skip(dream: Dream, job: Job, reason: str) -> int:
    return _end(dream, job, DreamState.SKIPPED, reason)


def _reject(dream: Dream, job: Job, reason: str) -> int:
    log.warning("dream_rejected", dream_id=str(dream.pk), reason=reason)
    return _end(dream, job, DreamState.FAILED, reason)


def _end(dream: Dream, job: Job, state: DreamState, reason: str) -> int:
    """The dream changed nothing; why is on it."""
    with transaction.atomic():
        dream.state, dream.reason, dream.finished_at = state.value, reason, now()
        dream.save(update_fields=["state", "reason", "finished_at"])
        finish_job(job)
    return 0


def _worded(
    access: Access, job: Job, result: Consolidated, reading: Reading, settings: Mapping[str, Any]
) -> Consolidated:
    """The same with each section that has something new put into words by a model. Raises DreamRejected."""
    old = set(reading.material.lines)
    fresh = frozenset(one.line for one in result.lines if one.line not in old)
    sections: dict[Audience, list[Held]] = {}
    for one in result.lines:
        sections.setdefault(one.line.audience, []).append(one)
    changes = list(result.changes)
    renewed = [audience for audience, lines in sections.items() if fresh & {one.line for one in lines}]
    for place, audience in enumerate(renewed):
        report_progress(job, place, len(renewed), "wording")
        section = offered(sections[audience], fresh, settings["dream_tokens"])
        if len(section.lines) < 2:  # nothing to put together with anything
            continue
        told = read_answer(_ask(access, job, section), section, settings["dream_max_dropped"])
        if told.refused:
            raise DreamRejected(told.refused)
        sections[audience] = _in_place(sections[audience], section, told.lines)
        changes += told.changes
    return Consolidated([one for lines in sections.values() for one in lines], changes)


def _ask(access: Access, job: Job, section: Section) -> Dreamt:
    turns = (Turn("system", INSTRUCTIONS), Turn("user", question_about(section)))
    question = ModelQuestion(Purpose.DREAM, turns, Dreamt, [UUID(job.ref["dream"])], required=True)
    try:
        answer = ask_model(access, question)
    except ModelUnavailable as error:
        if isinstance(error.__cause__, UnreadableAnswer):
            raise DreamRejected("unreadable") from error
        raise
    return answer.value or Dreamt(lines=[])


def _in_place(lines: list[Held], section: Section, told: list[Held]) -> list[Held]:
    """What the model was not shown stays where it is; what it made of the rest follows."""
    shown = {one.line for one in section.lines}
    return [one for one in lines if one.line not in shown] + told


def _write(access: Access, job: Job, dream: Dream, reading: Reading, result: Consolidated) -> int:
    """Version, diary and job in one transaction. Raises DreamOvertaken, JobLost."""
    lines = [one.line for one in result.lines]
    is_changed = lines != list(reading.material.lines)
    sources = {memory_id for line in lines for memory_id in line.memory_ids}
    with transaction.atomic():
        # Held until the lines are there: an erasure waits and then finds them, or was first and they must not come.
        held = Memory.objects.in_vault(access.vault_id).select_for_update(of=("self",), no_key=True)
        there = set(held.filter(pk__in=sources).order_by("id").values_list("pk", flat=True))
        document = locked_document(access, dream.namespace)
        if document.version != reading.version or there != sources:
            raise DreamOvertaken
        hold_job(job)
        dream.version_before = dream.version_after = document.version
        if is_changed:
            document.version += 1
            document.updated_at = now()
            document.save(update_fields=["version", "updated_at"])
            version = CoreVersion(document=document, number=document.version, **_made_by(dream))
            save_lines(version, lines)
            dream.version_after = document.version
            done = Audited("dream", "core_document", document.pk, dream.version_before, document.version)
            record_audit(access, done)
        _write_diary(dream, reading, result, is_changed=is_changed)
        data = {"document_id": str(document.pk), "version": document.version}
        record_events(access.vault_id, Happened(EventType.MEMORY_DREAMED, "dream", dream.pk, data))
        finish_job(job)
    return sum(change.what is not What.LEFT_OUT for change in result.changes)


def _made_by(dream: Dream) -> dict[str, Any]:
    return {"vault_id": dream.vault_id, "actor_kind": dream.actor_kind, "actor_id": dream.actor_id}


def save_lines(version: CoreVersion, lines: list[CoreLine]) -> None:
    """Write a version with these lines. A step of a verb that holds the document's lock."""
    version.lines = [line.stored() for line in lines]
    version.memory_ids = sorted({one for line in lines for one in line.memory_ids})
    version.save(force_insert=True)


def _write_diary(dream: Dream, reading: Reading, result: Consolidated, *, is_changed: bool) -> None:
    changes: list[Change] = result.changes
    dream.state = (DreamState.DONE if is_changed else DreamState.UNCHANGED).value
    dream.reason, dream.finished_at = "", now()
    dream.counts = {"read": len(reading.line_ids), "lines": len(result.lines)} | {
        what.value: sum(change.what is what for change in changes) for what in What
    }
    dream.diary = [change.stored() for change in changes]
    dream.memory_ids = sorted({one for change in changes for one in change.memory_ids})
    dream.save()

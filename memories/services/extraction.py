"""Read conversations for memories: in a job, once, and written like everything else (EXT, TIE-09, CON-20).

The mark up to which a conversation was read moves in the transaction of the writes and of the daily note, so what was
read is written and noted once, and what could not be read is read again. A model that does not answer makes the job
wait; nothing is marked as done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F

from banks.access import Access, KeyScope
from memories.events import EventType
from memories.models import Happened, Job, Message, Session, record_events
from memories.rules.facts import Fact, Verdict, draft_of, reason_of, verdict_of
from memories.rules.renewal import outdated_in
from memories.search.sessions import get_session
from memories.services.acting import acting_in, origin_of
from memories.services.context import WriteContext
from memories.services.finding import Found, find_facts
from memories.services.jobs import JobLost, finish_job, hold_job, report_progress
from memories.services.notes import note_memories
from memories.services.renewing import write_facts
from memories.services.writing import WriteResult
from memoryhub.lib.errors import HubError
from memoryhub.lib.metrics import EXTRACTED_FACTS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reading:
    """Unread turns that are read together; ``after`` and ``through`` are the marks before and afterwards."""

    session: Session
    messages: list[Message]
    after: int
    through: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A fact and what would become of it."""

    fact: Fact
    verdict: Verdict

    @property
    def reason(self) -> str | None:
        """Why it would not be written: permission, secret, order, doubtful or outdated."""
        return reason_of(self.fact, self.verdict)


@dataclass(frozen=True, slots=True)
class Preview:
    """What extraction would do with the turns up to ``through``; ``answered`` is False when a model gave no answer."""

    session: Session
    judged: list[Judged]
    extractor: str
    messages: int
    answered: bool

    @property
    def dropped(self) -> Counter[str]:
        """Reason → how many facts would not be written for it."""
        return Counter(one.reason for one in self.judged if one.reason)


def extract_session(access: Access, job: Job) -> int:
    """Read what is unread in the job's conversation and finish the job; how many facts were written.

    Raises ModelUnavailable, JobLost.
    """
    written, session_id = 0, UUID(job.ref["session"])
    settings = WriteContext.of(access).settings
    while (reading := _next_reading(access, session_id, settings["extraction_tokens"])) is not None:
        report_progress(job, reading.after, reading.session.last_number, "reading")
        written += _read(access, job, reading, settings)
    with transaction.atomic():
        finish_job(job)
    return written


def preview_extraction(access: Access, sid: str | UUID) -> Preview:
    """What extraction would find in the unread turns, or in the newest when all are read; writes nothing (EXT-01).

    Needs sessions. Raises NotFound.
    """
    access.require(KeyScope.SESSIONS)
    session = get_session(access, sid)
    settings = WriteContext.of(access).settings
    reading = _next_reading(access, session.pk, settings["extraction_tokens"])
    messages = reading.messages if reading else list(session.messages.order_by("-number")[:20])[::-1]
    acting = acting_in(access, session, messages)
    found = find_facts(acting, session, messages, settings, required=False)
    return Preview(session, _judge(found), found.extractor, len(messages), found.answered)


def _next_reading(access: Access, session_id: UUID, tokens: int) -> Reading | None:
    """As many unread turns as a model should get at once, but at least one; None when everything is read."""
    session = Session.objects.filter(vault_id=access.vault_id, pk=session_id).first()
    if session is None or not session.unread:
        return None
    after, spent, messages = session.extracted_through, 0, list[Message]()
    for message in session.messages.filter(number__gt=after).order_by("number").iterator(200):
        spent += message.tokens
        if messages and spent > tokens:
            break
        messages.append(message)
    return Reading(session, messages, after, messages[-1].number)


def _read(access: Access, job: Job, reading: Reading, settings: Mapping[str, Any]) -> int:
    acting = acting_in(access, reading.session, reading.messages)
    found = find_facts(acting, reading.session, reading.messages, settings)
    judged = _judge(found)
    origin = origin_of(reading.session, reading.messages)
    drafts = [draft_of(one.fact, origin, status, found.source_kind) for one in judged if (status := one.verdict.status)]

    def move_on(results: Sequence[WriteResult | HubError]) -> None:
        failed = [result for result in results if isinstance(result, HubError)]
        for error in failed:
            log.warning("fact_refused", session_id=str(reading.session.pk), error=error.code)
        _move_mark(job, reading, len(judged) - len(drafts) + len(failed))
        note_memories(acting, reading.session, reading.messages, zip(drafts, results, strict=True), settings)
        data = {"through": reading.through}
        told = Happened(EventType.MEMORY_EXTRACTED, "session", reading.session.pk, data, request_id=job.request_id)
        record_events(access.vault_id, told)

    if drafts:
        write_facts(acting, drafts, move_on)
    else:
        with transaction.atomic():
            move_on([])
    for verdict, count in Counter(one.verdict for one in judged).items():
        EXTRACTED_FACTS.labels(verdict.value).inc(count)
    return len(drafts)


def _judge(found: Found) -> list[Judged]:
    """Each fact by itself; then those a surer, later one of the same turns replaces are outdated."""
    judged = [Judged(fact, verdict_of(fact)) for fact in found.facts]
    sure = [place for place, one in enumerate(judged) if one.verdict is Verdict.ACCEPTED]
    outdated = {sure[place] for place in outdated_in([judged[place].fact for place in sure])}
    return [Judged(one.fact, Verdict.OUTDATED) if place in outdated else one for place, one in enumerate(judged)]


def _move_mark(job: Job, reading: Reading, dropped: int) -> None:
    """Raises JobLost, which undoes the writes, when somebody else read these turns or holds the job."""
    mark = Session.objects.filter(pk=reading.session.pk, extracted_through=reading.after)
    if not mark.update(extracted_through=reading.through, facts_dropped=F("facts_dropped") + dropped):
        raise JobLost
    hold_job(job)

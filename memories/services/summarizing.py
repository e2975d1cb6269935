"""Extend a conversation's running summary by its older turns (SUM).

The summary and the mark up to which it reaches change together; until then, and whenever something goes wrong, the
messages are all there is.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from banks.access import Access
from memories.calls.asking import ModelQuestion, ask_model
from memories.models import Job, Message, Session
from memories.rules.centroid import central_sentences, sentences_of
from memories.rules.sessionsummary import (
    SummaryRequest,
    SummaryTemplate,
    WrittenSummary,
    accepted_summary,
    check_trigger,
    summarizable,
    summary_prompt,
)
from memories.rules.vocabulary import Purpose
from memories.search.sessions import items_of
from memories.services.context import WriteContext
from memories.services.jobs import JobLost, finish_job, hold_job, report_progress
from memories.services.notes import note_summary
from memories.services.sessions import summary_limits_of
from memoryhub.lib.errors import Conflict
from memoryhub.providers.chat import Turn
from memoryhub.providers.registry import get_chat_model, get_embedder


class SummaryRejected(Conflict):
    """The summary came back empty or too long; the messages stay as they are and it is tried again."""

    code = "summary_rejected"


def summarize_session(access: Access, job: Job) -> int:
    """Take the older turns of the job's conversation into its summary and finish the job; how many (SUM-01, SUM-07).

    Without anything new no model is asked (SUM-10). Raises ModelUnavailable, SummaryRejected, JobLost.
    """
    settings = WriteContext.of(access).settings
    session = Session.objects.filter(vault_id=access.vault_id, pk=UUID(job.ref["session"])).first()
    waiting = _waiting(session) if session else []
    trigger = check_trigger(items_of(waiting), summary_limits_of(settings))
    if session is None or not trigger.should_trigger:
        return _leave(job)
    older = [waiting[place] for place in trigger.messages_to_summarize]
    report_progress(job, 0, len(older), "summarising")
    text = _summary(access, session, older, settings)
    if not text:
        return _leave(job)
    with transaction.atomic():
        found = Session.objects.select_for_update(no_key=True).filter(
            pk=session.pk, summarized_through=session.summarized_through
        )
        locked = found.first()
        if locked is None:
            raise JobLost
        locked.summary, locked.summarized_through = text, older[-1].number
        locked.save(update_fields=["summary", "summarized_through"])
        note_summary(access, locked, older[-1], settings)
        hold_job(job)
        finish_job(job)
    return len(older)


def _leave(job: Job) -> int:
    """Nothing is due, or only scraps were said and no model reads them: the messages stay, the next one asks again."""
    with transaction.atomic():
        finish_job(job)
    return 0


def _waiting(session: Session) -> list[Message]:
    return list(session.messages.filter(number__gt=session.summarized_through).order_by("number"))


def _summary(access: Access, session: Session, older: Sequence[Message], settings: Mapping[str, Any]) -> str:
    request = SummaryRequest(
        template=SummaryTemplate(settings["summary_template"]),
        before=session.summary or "",
        turns=[(message.role, message.content) for message in older],
        tokens=settings["summary_max_tokens"],
        boundary=secrets.token_hex(8),
    )
    if get_chat_model() is None:
        return _extractive(request)
    instructions, material = summary_prompt(request)
    turns = (Turn("system", instructions), Turn("user", material))
    question = ModelQuestion(Purpose.SUMMARIZE, turns, WrittenSummary, subjects=[UUID(str(session.pk))], required=True)
    answer = ask_model(access, question)
    text = accepted_summary(answer.value.summary if answer.value else "", request.tokens)
    if text is None:
        raise SummaryRejected
    return text


def _extractive(request: SummaryRequest) -> str:
    """Sentences of the summary so far and of what came since; an embedder in this process says which are central."""
    embedder = get_embedder()
    embed = embedder.embed if embedder is not None and embedder.local else None
    told = [request.before, *summarizable(request.template, request.turns)]
    return central_sentences(sentences_of(told), request.tokens, embed)

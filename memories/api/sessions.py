"""Conversations: append turns, read the window back, have them read for memories (TIE-08, STM)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import Field, StrictBool, with_config

from banks.access import KeyScope
from memories.api.erasures import ReceiptOut, receipt_out
from memories.api.requests import ApiRequest
from memories.calls.guarding import ModelUnavailable
from memories.models import Message, Session
from memories.rules import limits
from memories.rules.drafts import Label
from memories.rules.facts import Verdict
from memories.rules.messages import ConversationPart, WindowQuery
from memories.rules.vocabulary import MemoryType, Outcome, Role
from memories.search import sessions as found
from memories.search.sessions import SessionFilter, Shown
from memories.services import erasingsessions, extraction, sessions
from memories.services.extraction import Judged
from memories.services.sessions import MessageIdReused, SessionLabelled, SessionOutOfReach
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()


@with_config(
    shown(
        {
            "session_id": "monday",
            "namespace": ["default"],
            "user_id": "anna",
            "messages": 12,
            "unread": 2,
            "summarized": 4,
            "first_message_at": "2026-11-21T09:40:00Z",
            "last_message_at": "2026-11-21T10:15:00Z",
        }
    )
)
class SessionOut(TypedDict):
    """A conversation: ``unread`` messages were not read for memories yet."""

    id: UUID
    session_id: str
    namespace: list[str]
    user_id: str | None
    agent_id: str | None
    task_id: str | None
    messages: int
    unread: int
    summarized: int
    facts_dropped: int
    first_message_at: dt.datetime | None
    last_message_at: dt.datetime | None
    created_at: dt.datetime


@with_config(shown({"total": 1}))
class SessionList(TypedDict):
    """The last active first."""

    items: list[SessionOut]
    next_cursor: str | None
    total: int


@with_config(shown({"external_id": "m1", "number": 11, "role": "human", "content": "I live in Bergen.", "tokens": 6}))
class MessageOut(TypedDict):
    """One turn; ``id`` is the hub's, ``external_id`` the caller's. ``content`` is null when it does not open."""

    id: UUID
    external_id: str | None
    number: int
    role: Annotated[str, Word(Role)]
    content: str | None
    tool_calls: list[dict[str, Any]]
    tool_call_id: str | None
    tool_name: str | None
    is_error: bool
    tokens: int
    created_at: dt.datetime


@with_config(shown({"external_id": "m1", "number": 11, "outcome": "created"}))
class AddedMessageOut(TypedDict):
    """What became of a message: ``created``, or ``duplicate`` when its id was known.

    ``memory_id`` is set when it plainly stated a preference and was saved at once.
    """

    id: UUID
    external_id: str | None
    number: int
    outcome: Annotated[str, Word(Outcome)]
    memory_id: UUID | None


class AddedMessages(TypedDict):
    """One result per message, in the order sent."""

    session: SessionOut
    results: list[AddedMessageOut]


@with_config(shown({"tokens": 6, "left_out": 10}))
class WindowOut(TypedDict):
    """The turns to show a model, oldest first; ``left_out`` counts those that do not fit."""

    session: SessionOut
    messages: list[MessageOut]
    tokens: int
    left_out: int


@with_config(
    shown({"session_id": "monday", "summary": "Anna plans her move to Bergen.", "summarized": 4, "messages": 12})
)
class RunningSummaryOut(TypedDict):
    """The running summary, and how many of the messages it takes in."""

    session_id: str
    summary: str | None
    summarized: int
    messages: int


@with_config(shown({"queued": True, "unread": 2, "job_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b1d"}))
class FlushAnswer(TypedDict):
    """Whether there was anything to read, how many messages, and the job that reads them."""

    queued: bool
    unread: int
    job_id: UUID | None


class SessionsQuery(StrictModel):
    """Whose conversations, and which page."""

    user_id: Label | None = None
    agent_id: Label | None = None
    task_id: Label | None = None
    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = 50
    cursor: str | None = None


@with_config(
    shown(
        {
            "content": "Anna lives in Bergen.",
            "fact_key": "user.home_city",
            "type": "fact",
            "importance": 3,
            "confidence": 4,
            "verdict": "accepted",
            "messages": [11],
        }
    )
)
class ExtractedFactOut(TypedDict):
    """What would be remembered; ``verdict`` is accepted, draft, doubtful, refused or outdated: two are written.

    ``reason`` says why the others are not: permission, secret, order, doubtful, or outdated by a later statement.
    """

    content: str
    fact_key: str | None
    bank: str | None
    type: Annotated[str, Word(MemoryType)]
    importance: int
    confidence: int
    verdict: Annotated[str, Word(Verdict)]
    reason: str | None
    messages: list[int]


@with_config(
    shown({"dry_run": True, "session_id": "monday", "extractor": "extractive", "answered": True, "messages": 2})
)
class ExtractionPreviewOut(TypedDict):
    """What extraction would do now; ``answered`` is false when a language model gave no answer.

    ``facts_dropped`` counts what would not be written, by reason.
    """

    dry_run: bool
    session_id: str
    extractor: str
    answered: bool
    messages: int
    facts: list[ExtractedFactOut]
    facts_dropped: dict[str, int]


class Extraction(StrictModel):
    """Only to look: nothing is written."""

    model_config = shown({"dry_run": True})

    dry_run: StrictBool = True


class PreviewOnly(Invalid):
    """Extraction is only shown here; send `dry_run: true`, or leave it out, and POST …/flush to have it done."""

    code = "dry_run_only"


class EraseOnly(Invalid):
    """A session can only be erased, for good; send `erase=true` if that is meant."""

    code = "erase_only"


def session_out(session: Session) -> SessionOut:
    """One conversation."""
    return {
        "id": session.pk,
        "session_id": session.sid,
        "namespace": session.namespace,
        "user_id": session.user_id,
        "agent_id": session.agent_id,
        "task_id": session.task_id,
        "messages": session.last_number,
        "unread": session.unread,
        "summarized": session.summarized_through,
        "facts_dropped": session.facts_dropped,
        "first_message_at": session.first_message_at,
        "last_message_at": session.last_message_at,
        "created_at": session.created_at,
    }


def _message_out(shown: Shown) -> MessageOut:
    message: Message = shown.message
    return {
        "id": message.pk,
        "external_id": message.external_id,
        "number": message.number,
        "role": message.role,
        "content": opened(message, "content"),
        "tool_calls": [] if shown.stripped else message.tool_calls or [],
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "is_error": message.is_error,
        "tokens": message.tokens,
        "created_at": message.created_at,
    }


@router.get("/sessions", response=SessionList, **told("List conversations", KeyScope.SESSIONS))
def list_sessions(request: ApiRequest, wanted: Query[SessionsQuery]) -> HttpResponse:
    """The vault's conversations, the last active first."""
    whose = SessionFilter(wanted.user_id, wanted.agent_id, wanted.task_id)
    page = found.list_sessions(request.access, whose, wanted.limit, wanted.cursor)
    items = [session_out(session) for session in page.items]
    return json_answer({"items": items, "next_cursor": page.next_cursor, "total": page.total})


@router.get("/sessions/{sid}", response=SessionOut, **told("Read a conversation's state", KeyScope.SESSIONS))
def get_session(request: ApiRequest, sid: str) -> HttpResponse:
    """One conversation, by its caller's name of it."""
    return json_answer(session_out(found.get_session(request.access, sid)))


@router.post(
    "/sessions/{sid}/messages",
    response={201: AddedMessages, 200: AddedMessages},
    **told("Add messages to a conversation", KeyScope.SESSIONS, MessageIdReused, SessionLabelled, SessionOutOfReach),
)
def add_messages(request: ApiRequest, sid: str, part: ConversationPart) -> HttpResponse:
    """Append one message (its fields) or up to 500 (`messages`); one whose `id` is known is not stored again."""
    added = sessions.add_messages(request.access, sid, part)
    results = [
        {
            "id": message.pk,
            "external_id": message.external_id,
            "number": message.number,
            "outcome": "created" if is_new else "duplicate",
            "memory_id": added.saved.get(message.pk),
        }
        for message, is_new in added.messages
    ]
    return json_answer({"session": session_out(added.session), "results": results}, 201 if added.fresh else 200)


@router.get(
    "/sessions/{sid}/messages", response=WindowOut, **told("Read the newest messages that fit", KeyScope.SESSIONS)
)
def read_window(request: ApiRequest, sid: str, wanted: Query[WindowQuery]) -> HttpResponse:
    """The last rounds that fit the limits; system messages, whole tool calls and the newest human message always."""
    window = found.read_window(request.access, sid, wanted)
    body: WindowOut = {
        "session": session_out(window.session),
        "messages": [_message_out(shown) for shown in window.shown],
        "tokens": window.tokens,
        "left_out": window.left_out,
    }
    return json_answer(body)


@router.get(
    "/sessions/{sid}/summary", response=RunningSummaryOut, **told("Read the running summary", KeyScope.SESSIONS)
)
def read_summary(request: ApiRequest, sid: str) -> HttpResponse:
    """The running summary of what is older than the newest messages; null while there is none."""
    session = found.get_session(request.access, sid)
    body: RunningSummaryOut = {
        "session_id": session.sid,
        "summary": opened(session, "summary"),
        "summarized": session.summarized_through,
        "messages": session.last_number,
    }
    return json_answer(body)


@router.post(
    "/sessions/{sid}/flush",
    response={202: FlushAnswer, 200: FlushAnswer},
    **told("Read a conversation for memories now", KeyScope.SESSIONS),
)
def flush_session(request: ApiRequest, sid: str) -> HttpResponse:
    """Read the conversation for memories now: 202 with the job, 200 when there is nothing new."""
    flushed = sessions.flush_session(request.access, sid)
    body: FlushAnswer = {"queued": flushed.queued, "unread": flushed.unread, "job_id": flushed.job_id}
    return json_answer(body, 202 if flushed.queued else 200)


@router.post(
    "/sessions/{sid}/extract",
    response=ExtractionPreviewOut,
    **told("Preview what would be remembered", KeyScope.SESSIONS, PreviewOnly, ModelUnavailable),
)
def preview_extraction(request: ApiRequest, sid: str, wanted: Extraction = Extraction()) -> HttpResponse:  # noqa: B008
    """What would be remembered of the unread messages, or of the newest when all are read; writes nothing."""
    if not wanted.dry_run:
        raise PreviewOnly(errors=[FieldError("/dry_run", "dry_run_only", "must be true")])
    preview = extraction.preview_extraction(request.access, sid)
    body: ExtractionPreviewOut = {
        "dry_run": True,
        "session_id": preview.session.sid,
        "extractor": preview.extractor,
        "answered": preview.answered,
        "messages": preview.messages,
        "facts": [_fact_out(judged) for judged in preview.judged],
        "facts_dropped": dict(preview.dropped),
    }
    return json_answer(body)


def _fact_out(judged: Judged) -> ExtractedFactOut:
    fact = judged.fact
    return {
        "content": fact.text,
        "fact_key": fact.key,
        "bank": fact.bank,
        "type": fact.type.value,
        "importance": fact.importance,
        "confidence": fact.confidence,
        "verdict": judged.verdict.value,
        "reason": judged.reason,
        "messages": list(fact.sources),
    }


@router.delete(
    "/sessions/{sid}", response=ReceiptOut, **told("Erase a conversation", KeyScope.MEMORIES_ERASE, EraseOnly)
)
def erase_session(request: ApiRequest, sid: str, erase: bool = False) -> HttpResponse:
    """Remove its messages and summary for good (`erase=true`) and get a receipt; memories made from it stay."""
    if not erase:
        raise EraseOnly(errors=[FieldError("/erase", "erase_only", "must be true")])
    return json_answer(receipt_out(erasingsessions.erase_session(request.access, sid)))

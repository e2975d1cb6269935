"""``ask_model``: the one way a language model is asked. Guarded, bounded in time, and written down whatever happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from pydantic import BaseModel

from banks.access import Access
from memories.calls.guarding import ModelUnavailable, Permit, ask_permit, note_error, note_success
from memories.calls.ledger import record_call, record_skip
from memories.models import ModelCall
from memories.rules.vocabulary import CallResult, GuardedService, Purpose, SkipReason
from memoryhub.providers.base import ProviderError
from memoryhub.providers.chat import ChatLimits, ChatModel, Completion, Turn, UnreadableAnswer
from memoryhub.providers.registry import get_chat_model

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ModelQuestion[T: BaseModel]:
    """What is asked, for what, about what (ids), in which shape the answer must come, and how long it may take.

    ``required``: without an answer the caller's work waits, instead of going on without it.
    """

    purpose: Purpose
    turns: Sequence[Turn]
    schema: type[T]
    subjects: Sequence[UUID] = ()
    limits: ChatLimits = field(default_factory=ChatLimits)
    required: bool = False


@dataclass(frozen=True, slots=True)
class ModelAnswer[T: BaseModel]:
    """The value, or None with ``skipped`` when nobody was asked and without it when the call failed."""

    value: T | None
    call_id: UUID
    skipped: SkipReason | None = None


def ask_model[T: BaseModel](access: Access, question: ModelQuestion[T]) -> ModelAnswer[T]:
    """The model's answer in the shape asked for. Never raises for a provider's failure: the value is None then.

    Call it outside any transaction. Only a ``required`` question raises, ModelUnavailable: with the moment to try
    again when the guard is open, so that the work is deferred and not marked done (GRD-06, GRD-13, DEF-07). An
    unconfigured model is no failure and never raises.
    """
    model = get_chat_model()
    if model is None:
        return _skipped(access, question, SkipReason.NO_MODEL)
    try:
        permit = ask_permit(access, GuardedService.CHAT)
    except ModelUnavailable:
        if question.required:
            record_skip(access, question.purpose, SkipReason.GUARD_OPEN, question.subjects)
            raise
        return _skipped(access, question, SkipReason.GUARD_OPEN)
    started = time.perf_counter()
    try:
        value, completion = model.structured(question.turns, question.schema, question.limits)
    except ProviderError as error:
        row = _row(question, model, started, _cost(error))
        return _failed(access, question, permit, row, error)
    note_success(access, permit)
    row = _row(question, model, started, completion)
    row.result = CallResult.OK.value
    return ModelAnswer(value, record_call(access, row))


def _failed[T: BaseModel](
    access: Access, question: ModelQuestion[T], permit: Permit, row: ModelCall, error: ProviderError
) -> ModelAnswer[T]:
    unreadable = isinstance(error, UnreadableAnswer)
    row.result = (CallResult.UNREADABLE if unreadable else CallResult.ERROR).value
    row.reason, row.detail = error.code, error.message
    retry_at = note_error(access, permit, error)
    call_id = record_call(access, row)
    log.warning("model_call_failed", call_id=str(call_id), purpose=question.purpose, error=error.code)
    if question.required:
        raise ModelUnavailable(error.message, retry_at=retry_at) from error
    return ModelAnswer(None, call_id)


def _skipped[T: BaseModel](access: Access, question: ModelQuestion[T], reason: SkipReason) -> ModelAnswer[T]:
    return ModelAnswer(None, record_skip(access, question.purpose, reason, question.subjects), reason)


def _cost(error: ProviderError) -> Completion | None:
    return error.completion if isinstance(error, UnreadableAnswer) else None


def _row[T: BaseModel](
    question: ModelQuestion[T], model: ChatModel, started: float, spent: Completion | None
) -> ModelCall:
    return ModelCall(
        purpose=question.purpose.value,
        provider=model.name,
        model=model.model,
        subjects=list(question.subjects),
        took_ms=round((time.perf_counter() - started) * 1000, 3),
        tokens_in=spent.tokens_in if spent else 0,
        tokens_out=spent.tokens_out if spent else 0,
    )

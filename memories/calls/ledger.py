"""The ledger of questions to language models: purpose, model, tokens, time, result, or why nobody was asked."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import structlog

from banks.access import Access
from memories.calls.guarding import DETAIL_LENGTH
from memories.models import ModelCall
from memories.rules.vocabulary import CallResult, Purpose, SkipReason
from memoryhub.lib.metrics import LLM_CALLS_SKIPPED, MODEL_CALLS, MODEL_TOKENS

log = structlog.get_logger(__name__)


def record_call(access: Access, row: ModelCall) -> UUID:
    """Write one row for this caller and count it; its id."""
    row.vault_id, row.actor_id, row.request_id = access.vault_id, access.actor.id, access.request_id
    row.detail, row.model = row.detail[:DETAIL_LENGTH], row.model[:200]
    row.save(force_insert=True)
    MODEL_CALLS.labels(row.purpose, row.result).inc()
    for direction, tokens in (("in", row.tokens_in), ("out", row.tokens_out)):
        if tokens:
            MODEL_TOKENS.labels(row.purpose, direction).inc(tokens)
    return UUID(str(row.pk))


def record_skip(access: Access, purpose: Purpose, reason: SkipReason, subjects: Sequence[UUID] = ()) -> UUID:
    """A call that was not made, and why (MET-04, OPT-10); the row's id."""
    row = ModelCall(
        purpose=purpose.value, result=CallResult.SKIPPED.value, reason=reason.value, subjects=list(subjects)
    )
    LLM_CALLS_SKIPPED.labels(purpose, reason).inc()
    log.info("model_call_skipped", vault_id=str(access.vault_id), purpose=purpose, reason=reason)
    return record_call(access, row)

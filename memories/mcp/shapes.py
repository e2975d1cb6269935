"""What the tools answer: few fields, as a model reads and pays for every one of them. REST has them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from banks.models import Bank
from memories.models import CleanupPlan, CleanupPlanItem, Memory
from memories.rules.summaries import summary_of
from memories.search.recall import Hit
from memories.search.relatives import Relatives
from memories.services.writing import WriteResult
from memoryhub.lib.sealing import opened

#: Said only where they say something.
_OPTIONAL = ("category", "role", "fact_key", "user_id", "session_id", "event_at", "expires_at")


def memory_shown(memory: Memory, kin: Relatives, *, compact: bool = False) -> dict[str, Any]:
    """One memory; ``content``, or ``summary`` when compact, is null where it does not open any more."""
    text = _text(memory)
    shown: dict[str, Any] = {
        "id": memory.pk,
        **({"summary": text and summary_of(text)} if compact else {"content": text}),
        "type": memory.type,
        "bank": memory.bank.name,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "trust": memory.trust,
        "status": memory.status,
        "created_at": memory.created_at,
        "version": memory.version,
    }
    shown |= {name: value for name in _OPTIONAL if (value := getattr(memory, name)) is not None}
    shown |= {name: value for name in ("entities", "tags") if (value := getattr(memory, name))}
    if memory.archived:
        shown |= {"archived": True, "superseded_by": kin.superseded_by}
    if kin.supersedes:
        shown["supersedes"] = kin.supersedes
    return shown


def hit_shown(hit: Hit, kin: Relatives, *, compact: bool) -> dict[str, Any]:
    """One memory with its score."""
    return {"score": round(hit.score, 4), **memory_shown(hit.memory, kin, compact=compact)}


def written_shown(result: WriteResult) -> dict[str, Any]:
    """What became of a write, and why: enough to go on without reading it again."""
    shown: dict[str, Any] = {
        "id": result.memory.pk,
        "outcome": result.outcome,
        "status": result.memory.status,
        "bank": result.memory.bank.name,
        "version": result.memory.version,
        "reason": result.reason,
    }
    about = {
        "superseded_id": result.superseded_id,
        "similar_to": result.similar_to,
        "duplicate_of": result.duplicate_of,
    }
    return shown | {name: value for name, value in about.items() if value is not None}


def banks_shown(banks: Sequence[Bank]) -> dict[str, Any]:
    """The banks a key may use."""
    return {
        "banks": [{"name": bank.name, "description": bank.description, "default": bank.is_default} for bank in banks]
    }


def plan_shown(plan: CleanupPlan, items: Sequence[CleanupPlanItem], *, dry_run: bool) -> dict[str, Any]:
    """What a clean-up names or is archiving: how many, why, and the oldest of them."""
    shown: dict[str, Any] = {
        "dry_run": dry_run,
        "plan_id": plan.pk,
        "state": plan.state,
        "count": plan.count,
        "by_reason": plan.by_reason,
        "candidates": [
            {
                "id": item.memory_id,
                "summary": (text := _text(item.memory)) and summary_of(text),
                "reasons": item.reasons,
            }
            for item in items
        ],
        "review_at": f"/cleanup/plans/{plan.pk}/",
    }
    return shown if plan.job_id is None else shown | {"job_id": plan.job_id}


def _text(memory: Memory) -> str | None:
    text: str | None = opened(memory, "content")
    return text

"""Where a memory comes from: who wrote it when, the turns it was found in, and the questions to models behind it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from banks.access import Access, KeyScope
from memories.models import Memory, Message, Session
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.statements import fetch

CALLS_MAX, MESSAGES_MAX = 20, 5
#: A question and the write it led to are parts of one request or one run of a job.
_TOGETHER = dt.timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class CallMade:
    """One line of the ledger of questions to models."""

    purpose: str
    provider: str
    model: str
    result: str
    reason: str
    tokens_in: int
    tokens_out: int
    took_ms: float
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Provenance:
    """``calls`` is None for a caller who may not see the ledger; nobody wrote it where the audit does not say who."""

    actor: tuple[str, str] | None = None
    written_at: dt.datetime | None = None
    request_id: str = ""
    calls: list[CallMade] | None = None
    messages: list[Message] = field(default_factory=list)

    @property
    def session(self) -> Session | None:
        """The conversation the turns are from."""
        return self.messages[0].session if self.messages else None


def read_provenance(access: Access, memory: Memory) -> Provenance:
    """For a memory the caller has read. Needs memories:read; ops:read for the calls, sessions for the turns."""
    access.require(KeyScope.MEMORIES_READ)
    rows = fetch(_MADE, {"vault": access.vault_id, "id": memory.pk, "together": _TOGETHER, "most": CALLS_MAX})
    messages = _messages(access, memory.extra)
    if not rows:
        return Provenance(calls=[] if access.has(KeyScope.OPS_READ) else None, messages=messages)
    kind, actor_id, at, request_id = rows[0][:4]
    calls = [CallMade(*row[4:]) for row in rows if row[4] is not None]
    return Provenance(
        actor=(kind, actor_id),
        written_at=at,
        request_id=request_id,
        calls=calls if access.has(KeyScope.OPS_READ) else None,
        messages=messages,
    )


def _messages(access: Access, extra: Mapping[str, Any]) -> list[Message]:
    """The turns it was found in, as extraction noted them; of conversations the caller may look into."""
    noted = extra.get("messages")
    if not isinstance(noted, list) or not noted or not access.has(KeyScope.SESSIONS):
        return []
    ids = [parsed for one in noted[:MESSAGES_MAX] if (parsed := _id(one)) is not None]
    mine = Message.objects.filter(vault_id=access.vault_id, pk__in=ids)
    mine = mine.filter(session__in=Session.objects.visible_to(access))
    return list(mine.select_related("session").order_by("number"))


def _id(text: object) -> UUID | None:
    try:
        return parse_id(str(text))
    except NotFound:
        return None


# Extraction and summaries note what they were about; a write's own check is found by its request.
_MADE = """
WITH made AS (
    SELECT actor_kind, actor_id, at, request_id FROM banks_auditentry
     WHERE vault_id = %(vault)s AND target_id = %(id)s AND target_kind = 'memory' AND version_after = 1
     ORDER BY id LIMIT 1
)
SELECT made.actor_kind, made.actor_id, made.at, made.request_id, asked.purpose, asked.provider, asked.model,
       asked.result, asked.reason, asked.tokens_in, asked.tokens_out, asked.took_ms, asked.created_at
  FROM made LEFT JOIN LATERAL (
    SELECT * FROM memories_modelcall c
     WHERE c.vault_id = %(vault)s AND c.created_at <= made.at + %(together)s
       AND c.created_at >= made.at - %(together)s
       AND (c.subjects @> ARRAY[%(id)s]::uuid[] OR (made.request_id <> '' AND c.request_id = made.request_id))
     ORDER BY c.created_at DESC LIMIT %(most)s
  ) AS asked ON true ORDER BY asked.created_at
"""

"""Where a memory comes from, in words: the door, the key and agent, the turn it was found in, the questions asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from memories.rules.vocabulary import CallResult, SourceKind
from memories.web.forms import spoken
from memories.web.modelcalls import RESULTS
from memories.web.turns import turns_of

if TYPE_CHECKING:
    import datetime as dt

    from memories.models import Memory
    from memories.search.provenance import CallMade, Provenance
    from memories.web.actors import People
    from memories.web.rows import State
    from memories.web.turns import ShownTurn

SOURCES = {
    SourceKind.USER_STATED: "Stated by a person",
    SourceKind.AGENT_INFERRED: "Written by an agent",
    SourceKind.TOOL_OUTPUT: "The output of a tool",
    SourceKind.WEB: "Read on the web",
    SourceKind.IMPORT: "Imported",
    SourceKind.LLM_DERIVED: "Derived by a language model",
}


@dataclass(frozen=True, slots=True)
class CallLine:
    """One question to a model behind this memory, or why it was not asked."""

    purpose: str
    model: str
    state: State
    tokens: int
    call: CallMade


@dataclass(frozen=True, slots=True)
class Origin:
    """``said_at`` is when it was said, where that is known apart from when it was stored."""

    source: str
    author: str
    agent: str
    request_id: str
    turns: list[ShownTurn]
    session_url: str
    said_at: dt.datetime | None
    calls: list[CallLine]
    #: What was spent on it, or that nothing was.
    spent: str


def origin_of(memory: Memory, found: Provenance, people: People) -> Origin:
    """The provenance of a memory."""
    lines = [_line(call) for call in found.calls or []]
    return Origin(
        source=SOURCES[SourceKind(memory.source_kind)],
        author=people.actor(found.actor) if found.actor else "",
        agent=people.agent(memory.agent_id),
        request_id=found.request_id,
        turns=turns_of(found.messages),
        session_url=reverse("session", args=[found.session.pk]) if found.session else "",
        said_at=found.messages[0].created_at if found.messages else memory.event_at,
        calls=lines,
        spent=_spent(found),
    )


def _line(call: CallMade) -> CallLine:
    return CallLine(
        purpose=spoken(call.purpose),
        model=" ".join(part for part in (call.provider, call.model) if part),
        state=RESULTS[CallResult(call.result)],
        tokens=call.tokens_in + call.tokens_out,
        call=call,
    )


def _spent(found: Provenance) -> str:
    if found.calls is None:
        return ""
    asked = [call for call in found.calls if call.result != CallResult.SKIPPED]
    if not asked:
        return "Stored as found, no model asked" if found.messages else "Stored as written, no model asked"
    tokens = sum(call.tokens_in + call.tokens_out for call in asked)
    return f"{len(asked)} model {'call' if len(asked) == 1 else 'calls'}, {tokens:,} tokens"

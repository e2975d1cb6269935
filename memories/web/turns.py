"""The turns of a conversation as pages show them: texts that open, tools in words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.rules.vocabulary import Role
from memoryhub.lib.crypto import CryptoError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories.models import Message, Session

SPEAKERS = {Role.HUMAN: "User", Role.AI: "Assistant", Role.SYSTEM: "System", Role.TOOL: "Tool"}


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A tool an assistant called."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A message; ``text`` is None where it cannot be opened."""

    message: Message
    speaker: str
    text: str | None
    calls: list[ShownCall]
    #: Of a tool's result: the number of the message that called it, where that is on the page too.
    asked_in: int | None = None


def turns_of(messages: Sequence[Message]) -> list[ShownTurn]:
    """Each message by itself: one broken row must not take the page with it."""
    turns: list[ShownTurn] = []
    asked_in: dict[str, int] = {}
    for message in messages:
        turn = _turn(message, asked_in.get(message.tool_call_id or ""))
        asked_in.update(dict.fromkeys((call.id for call in turn.calls), message.number))
        turns.append(turn)
    return turns


def _turn(message: Message, asked_in: int | None) -> ShownTurn:
    speaker = SPEAKERS[Role(message.role)]
    if message.tool_name:
        speaker = f"{speaker} {message.tool_name}"
    try:
        calls = [ShownCall(call["id"], call["name"], _written(call["arguments"])) for call in message.tool_calls or ()]
        return ShownTurn(message, speaker, message.content, calls, asked_in)
    except CryptoError:
        return ShownTurn(message, speaker, None, [])


def _written(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=1)


def opened_summary(session: Session) -> str | None:
    """The running summary, or None where there is none or it cannot be opened."""
    try:
        return str(session.summary) if session.summary else None
    except CryptoError:
        return None

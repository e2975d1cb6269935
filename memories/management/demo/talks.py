"""The sample vault's conversations, as its agents send them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from memories.management.demo.story import PERSON
from memories.rules.messages import ConversationPart

type Said = list[Any]


class Talk(BaseModel):
    """One conversation; a turn is a role, a text, and the calls an assistant makes or the call a tool answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sid: str
    by: str
    days_ago: int
    turns: list[Said]
    #: The memories of the story that it is said to have left behind.
    left: list[str] = []

    def to_part(self, today: dt.datetime) -> ConversationPart:
        """What its agent would send, a minute between turns and the last of them an hour ago at the latest."""
        start = today - dt.timedelta(days=self.days_ago, hours=1, minutes=len(self.turns))
        times = [start + dt.timedelta(minutes=place) for place in range(len(self.turns))]
        messages = [{**_message(turn), "created_at": at} for turn, at in zip(self.turns, times, strict=True)]
        return ConversationPart.parse({"messages": messages, "user_id": PERSON})


def _message(turn: Said) -> dict[str, Any]:
    role, content, *more = turn
    if role == "tool":
        return {"role": role, "content": content, "tool_call_id": more[0]}
    calls = [{"id": each[0], "name": each[1], "arguments": each[2]} for each in (more[0] if more else [])]
    return {"role": role, "content": content, "tool_calls": calls}


def read_talks() -> list[Talk]:
    """The conversations of the story."""
    told = json.loads(Path(__file__).with_name("talk.json").read_text())
    return [Talk.model_validate(each) for each in told["conversations"]]

"""Older messages in a few words: when, which, and by whichever model the caller has (SUM). Shares the hub's rules."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from memories.rules import sessionsummary
from memories.rules.sessionsummary import (
    SummaryLimits,
    SummaryRequest,
    WrittenSummary,
    accepted_summary,
    summary_prompt,
)
from memories.rules.sessionsummary import SummaryTemplate as SummaryTemplate
from memoryhub.client.asking import Ask, Summarizes, asked
from memoryhub.client.items import Said, item_said
from memoryhub.lib.loosejson import NoJson, find_json

#: A question goes in, the model's answer comes out.
type Summarizer = Ask | Summarizes


class SummaryConfig(BaseModel):
    """More messages than ``threshold`` or tokens than ``max_tokens`` start a summary; the newest stay as they are."""

    model_config = ConfigDict(frozen=True)

    threshold: int = 20
    template: SummaryTemplate = SummaryTemplate.CONVERSATION
    max_tokens: int = 4_000
    keep_recent: int = 4


@dataclass(frozen=True, slots=True)
class Trigger[Message: Said]:
    """Whether to summarise, and which messages, oldest first (SUM-02)."""

    should_trigger: bool
    messages_to_summarize: list[Message]


class SummaryRefused(ValueError):
    """The summariser's answer was empty or far too long; the messages stay as they are, ask again later."""


def check_trigger[Message: Said](messages: Sequence[Message], config: SummaryConfig | None = None) -> Trigger[Message]:
    """What to summarise of messages that are in no summary yet: 20 messages start none, 21 do (CON-11)."""
    config = config or SummaryConfig()
    limits = SummaryLimits(config.threshold, config.max_tokens, config.keep_recent)
    found = sessionsummary.check_trigger([item_said(each).windowed() for each in messages], limits)
    return Trigger(found.should_trigger, [messages[place] for place in found.messages_to_summarize])


async def generate_summary(
    messages: Sequence[Said],
    summarizer: Summarizer,
    template: SummaryTemplate = SummaryTemplate.CONVERSATION,
    previous: str = "",
    max_tokens: int = 500,
) -> str:
    """``previous`` extended by what the messages say; without messages the same, and nobody is asked (SUM-07, SUM-10).

    Raises SummaryRefused, and whatever the summariser raises.
    """
    if not messages:
        return previous
    turns = [(str(item.memory_type or "ai"), item.content) for item in map(item_said, messages)]
    instructions, material = summary_prompt(SummaryRequest(template, previous, turns, max_tokens, secrets.token_hex(8)))
    summary = accepted_summary(_told(await asked(summarizer, f"{instructions}\n\n{material}", "summarize")), max_tokens)
    if summary is None:
        raise SummaryRefused("The summary is empty or far longer than asked for; nothing was replaced by it.")
    return summary


def _told(answer: str) -> str:
    """The summary as JSON says it, or the answer itself where the model wrote plain prose."""
    try:
        return WrittenSummary.model_validate(find_json(answer)).summary
    except (NoJson, ValidationError):
        return answer

"""When older messages are summarised, and how."""

from __future__ import annotations

import asyncio

import pytest

from memoryhub.client import (
    AIMemory,
    HumanMemory,
    MemoryItem,
    SummaryConfig,
    SummaryRefused,
    SummaryTemplate,
    ToolMemory,
    check_trigger,
    generate_summary,
)


def turns(count: int, text: str = "word") -> list[MemoryItem]:
    return [(HumanMemory if n % 2 == 0 else AIMemory)(content=f"{text} {n}") for n in range(count)]


def test_the_bounds():
    """SUM-01, SUM-02, CON-11: 20 no, 21 yes, long ones earlier; the newest four stay."""
    assert not check_trigger(turns(20)).should_trigger
    trigger = check_trigger(turns(21), SummaryConfig(threshold=20, template=SummaryTemplate.CONVERSATION))
    assert trigger.should_trigger
    assert [item.content for item in trigger.messages_to_summarize] == [f"word {n}" for n in range(17)]
    assert check_trigger(turns(19, "word " * 400)).should_trigger
    assert not check_trigger([], SummaryConfig()).should_trigger


def test_no_call_without_its_result():
    """SUM-09."""
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    messages = [*turns(16), AIMemory(content="", tool_calls=[call]), ToolMemory(content="r", tool_call_id="c")]
    messages += [HumanMemory(content="newest"), *turns(4)[1:]]
    taken = check_trigger(messages, SummaryConfig(threshold=20, keep_recent=5)).messages_to_summarize
    assert not any(isinstance(item, ToolMemory) or getattr(item, "tool_calls", []) for item in taken)


@pytest.mark.parametrize("answer", ['{"summary": "They count words."}', "They count words."])
def test_a_summary_extends_the_one_before(answer: str):
    """SUM-03, SUM-07: in JSON or prose; the texts are data inside a boundary."""
    asked: list[str] = []

    async def summarizer(prompt: str) -> str:
        asked.append(prompt)
        return answer

    said = asyncio.run(generate_summary(turns(3, "<b>"), summarizer, SummaryTemplate.FACTS, previous="Before."))
    assert said == "They count words."
    assert "Before." in asked[0] and "&lt;b&gt; 2" in asked[0] and "factual assertions" in asked[0]


def test_nothing_new_asks_nobody_and_a_bad_answer_replaces_nothing():
    """SUM-10, SUM-11."""

    async def useless(prompt: str) -> str:
        return " "

    async def endless(prompt: str) -> str:
        return "word " * 5_000

    assert asyncio.run(generate_summary([], useless, previous="Before.")) == "Before."
    for bad in (useless, endless):
        with pytest.raises(SummaryRefused):
            asyncio.run(generate_summary(turns(3), bad))
    assert [template.name for template in SummaryTemplate] == ["CONVERSATION", "FACTS", "PROFILES"]

"""Windows of the conversation that is going on."""

from __future__ import annotations

import pytest

from memoryhub.client import (
    AIMemory,
    HumanMemory,
    MemoryItem,
    MemoryMetadata,
    ShortTermMemory,
    SystemMemory,
    ToolMemory,
)


def call(name: str) -> dict[str, object]:
    return {"id": name, "function": {"name": "look", "arguments": "{}"}}


def texts(messages: list[MemoryItem]) -> list[str]:
    return [one.content for one in messages]


def test_the_last_rounds_and_the_instructions():
    """STM-02, STM-03, STM-06…08: a round starts at a human message; system messages stay."""
    memory = ShortTermMemory(scope="session")
    memory.add(SystemMemory(content="Be brief."))
    for number in range(4):
        memory.add(HumanMemory(content=f"question {number}", metadata=MemoryMetadata(session_id="s-1")))
        memory.add(AIMemory(content=f"answer {number}"))
    window = memory.get_messages(metadata=MemoryMetadata(session_id="s-1"), max_rounds=2)
    assert texts(window) == ["Be brief.", "question 2", "answer 2", "question 3", "answer 3"]
    assert texts(memory.get_messages(limit=3))[1:] == ["answer 2", "question 3", "answer 3"]


@pytest.mark.parametrize("scope", ["user", "session", "task"])
def test_a_scope_tells_conversations_apart(scope: str):
    """STM-01."""
    memory = ShortTermMemory(scope=scope)
    for name in ("one", "two"):
        memory.add(HumanMemory(content=name, metadata=MemoryMetadata(**{f"{scope}_id": name})))
    assert texts(memory.get_messages(MemoryMetadata(**{f"{scope}_id": "two"}))) == ["two"]
    assert texts(memory.get_messages()) == ["one", "two"]
    with pytest.raises(ValueError, match="planet"):
        ShortTermMemory(scope="planet")


def test_calls_and_results_stay_together():
    """STM-04, STM-09, STM-10: all results of an answer, or the answer without its calls; no result by itself."""
    memory = ShortTermMemory()
    memory.add(HumanMemory(content="first"))
    memory.add(AIMemory(content="looking", tool_calls=[call("a"), call("b")]))
    memory.add(ToolMemory(content="found a", tool_call_id="a"))
    memory.add(ToolMemory(content="found b", tool_call_id="b"))
    memory.add(HumanMemory(content="second"))
    memory.add(AIMemory(content="looking again", tool_calls=[call("c"), call("d")]))
    memory.add(ToolMemory(content="found c", tool_call_id="c"))
    assert texts(memory.get_messages(limit=5)) == ["second", "looking again"]
    whole = memory.get_messages()
    assert texts(whole) == ["first", "looking", "found a", "found b", "second", "looking again"]
    assert isinstance(whole[1], AIMemory) and len(whole[1].tool_calls) == 2
    assert isinstance(whole[-1], AIMemory) and whole[-1].tool_calls == []


def test_a_budget_of_tokens():
    """STM-11: the newest that fit; the newest human message always does."""
    memory = ShortTermMemory()
    for number in range(10):
        memory.add(HumanMemory(content=f"{number} " + "word " * 50))
    assert len(memory.get_messages(max_tokens=150)) == 2
    assert len(memory.get_messages(max_tokens=1)) == 1

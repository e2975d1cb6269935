"""An agent's answers and tool results are saved by hooks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from memoryhub.client import (
    AIMemory,
    HookPoint,
    HumanMemory,
    MemoryMetadata,
    MemoryPersistence,
    ShortTermMemory,
    ToolMemory,
)

META = MemoryMetadata(user_id="u-1", session_id="s-1")
CALL = SimpleNamespace(id="call_1", name="tides", arguments={"place": "Brest"})


class Agent:
    """As small as an agent can be."""

    def __init__(self) -> None:
        self.hooks: dict[str, list[Any]] = {"POST_LLM_CALL": [], "POST_TOOL_CALL": []}

    def add_hook(self, point: str, hook: Any) -> None:
        self.hooks[point].append(hook)

    def remove_hook(self, point: str, hook: Any) -> None:
        self.hooks[point].remove(hook)

    async def tell(self, point: str, **said: Any) -> None:
        for hook in self.hooks[point]:
            await hook(**said)

    async def run(self) -> None:
        asking = SimpleNamespace(id="r1", content="", tool_calls=[CALL])
        await self.tell("POST_LLM_CALL", agent=self, response=asking)
        result = {"tool_call_id": "call_1", "tool_name": "tides", "content": "High at noon.", "is_error": False}
        await self.tell("POST_TOOL_CALL", agent=self, result=result)
        await self.tell("POST_LLM_CALL", agent=self, response=SimpleNamespace(id="r2", content="At noon."))

    async def stream(self) -> AsyncIterator[str]:
        said = ""
        for piece in ("At ", "noon."):
            said += piece
            await self.tell("POST_LLM_CALL", response=SimpleNamespace(id="r3", content=said, tool_calls=None))
            yield piece


def test_a_run_is_saved_once_however_often_it_is_attached():
    """EXT-21…25: the person's words are the caller's to save; detaching leaves no hook."""
    agent, store = Agent(), ShortTermMemory(scope="session")
    persistence = MemoryPersistence(store, metadata=META)
    persistence.attach(agent)
    persistence.attach(agent)
    assert [len(hooks) for hooks in agent.hooks.values()] == [1, 1]

    async def use() -> list[Any]:
        await store.add(HumanMemory(content="When is high water in Brest?", metadata=META))
        await agent.run()
        return list(await store.search(metadata=META, limit=100))

    human, asked, result, answer = asyncio.run(use())
    assert isinstance(human, HumanMemory)
    assert isinstance(asked, AIMemory) and asked.content == ""
    assert asked.tool_calls == [{"id": "call_1", "function": {"name": "tides", "arguments": '{"place": "Brest"}'}}]
    assert isinstance(result, ToolMemory)
    assert (result.tool_call_id, result.tool_name, result.is_error) == ("call_1", "tides", False)
    assert isinstance(answer, AIMemory) and answer.content == "At noon."
    assert [one.content for one in store.get_messages(META)] == [human.content, "", "High at noon.", "At noon."]
    persistence.detach(agent)
    persistence.detach(agent)
    assert list(agent.hooks.values()) == [[], []]


def test_a_stream_is_saved_once():
    """EXT-24: the answer as it grew to be."""
    agent, store = Agent(), ShortTermMemory()
    MemoryPersistence(store, META).attach(agent)

    async def use() -> None:
        assert [piece async for piece in agent.stream()] == ["At ", "noon."]

    asyncio.run(use())
    assert [item.content for item in store.get_messages()] == ["At noon."]


def test_answers_come_in_many_shapes():
    """Plain text, mappings, content in parts, errors; without an id each is an answer of its own."""
    store = ShortTermMemory()
    persistence = MemoryPersistence(store)
    persistence.save_response("Plain.")
    persistence.save_response({"content": [{"type": "text", "text": "In "}, {"type": "text", "text": "parts."}]})
    called = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    persistence.save_response({"content": None, "text": "Calls.", "tool_calls": [called]})
    persistence.save_result({"error": "timed out"}, tool_call_id="c", tool_name="f")
    found = store.get_messages()
    assert [item.content for item in found] == ["Plain.", "In parts.", "Calls.", "timed out"]
    assert isinstance(found[2], AIMemory) and found[2].tool_calls == [called]
    assert isinstance(found[3], ToolMemory) and found[3].is_error
    assert HookPoint.POST_LLM_CALL == "POST_LLM_CALL"

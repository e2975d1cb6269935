"""Code written for the libraries the names come from runs against a hub, with only the import line changed.

Each script here is written as somebody who knows those libraries would write it, and says what must have come of it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from memoryhub.client import (
    AIMemory,
    EncryptedMemoryStore,
    EventBus,
    ExtractionType,
    HubMemoryStore,
    HumanMemory,
    LongTermMemory,
    MemoryCategory,
    MemoryEngine,
    MemoryEventEmitter,
    MemoryItem,
    MemoryMetadata,
    MemoryOrchestrator,
    MemoryPersistence,
    MemoryStatus,
    MemoryStore,
    MemUpdateChecker,
    Migration,
    MigrationRunner,
    NamespaceTemplate,
    OrchestratorConfig,
    ShortTermMemory,
    SQLiteMemoryStore,
    SummaryConfig,
    SummaryTemplate,
    SystemMemory,
    ToolMemory,
    UpdateDecision,
    check_trigger,
    format_for_injection,
    generate_summary,
    manage_memory,
    search_memory,
)
from memoryhub.client.defaulthub import shared_hub
from tests.memoryhub.test_client_documented import work


@pytest.fixture(autouse=True)
def environment(live_server: Any, secret: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MEMORYHUB_URL", live_server.url)
    monkeypatch.setenv("MEMORYHUB_KEY", secret)
    shared_hub.cache_clear()
    yield
    if shared_hub.cache_info().currsize:
        shared_hub().close()
    shared_hub.cache_clear()


def test_a_conversation_in_short():
    """Typed turns, a scope, rounds; instructions without labels belong to every conversation."""
    meta = MemoryMetadata(user_id="u-7", session_id="s-7", task_id="t-7", agent_id="guide")
    stm = ShortTermMemory(scope="session")
    stm.add(SystemMemory(content="You answer in one line."))
    stm.add(HumanMemory(content="What is a bollard?", metadata=meta))
    call = {"id": "call_9", "function": {"name": "look_up", "arguments": '{"word": "bollard"}'}}
    stm.add(AIMemory(content="One moment.", tool_calls=[call]))
    stm.add(ToolMemory(content="A post on a quay.", tool_call_id="call_9", tool_name="look_up", is_error=False))
    stm.add(AIMemory(content="A post on a quay.", tool_calls=[]))
    stm.add(HumanMemory(content="Elsewhere", metadata=MemoryMetadata(session_id="s-8")))
    messages: list[Any] = stm.get_messages(metadata=MemoryMetadata(session_id="s-7"), max_rounds=10)
    assert [message.memory_type for message in messages] == ["system", "human", "ai", "tool", "ai"]
    assert messages[2].tool_calls == [call]
    assert len(stm.get_messages(metadata=MemoryMetadata(session_id="s-7"), max_rounds=1)) == 5


def test_a_status_moves_on():
    item = HumanMemory(content="Ahoy")
    assert item.status is MemoryStatus("accepted")
    item.transition(MemoryStatus.DISCARD)
    assert item.status is MemoryStatus("discard")


def test_knowledge_in_long_and_an_orchestrator():
    """Both without a word about where: the environment says it."""
    ltm = LongTermMemory()
    for _ in range(2):
        ltm.add(
            content="Prefers sail over steam",
            extraction_type=ExtractionType.USER_PROFILE,
            metadata=MemoryMetadata(user_id="u-7"),
        )

    class Extractor:
        async def extract(self, prompt: str) -> str:
            return json.dumps(
                [{"fact_text": "The user mends nets.", "fact_key": "work", "importance": 0.8, "memory_bank": "Work"}]
            )

    async def use() -> None:
        found = await ltm.search(query="sail or steam?")
        assert [item.content for item in found] == ["Prefers sail over steam"]
        assert found[0].category is MemoryCategory.USER_PROFILE
        orchestrator = MemoryOrchestrator(config=OrchestratorConfig(batch_size=5, max_concurrent=3))
        orchestrator.submit([HumanMemory(content="I mend nets for a living.")], extractor=Extractor())
        orchestrator.submit([{"role": "user", "content": "I am a pilot."}], extractor=lambda prompt: "[]")
        results = await orchestrator.process_all()
        assert [item.content for item in results] == ["The user mends nets."]
        assert await orchestrator.process_all() == []
        # An answer that does not say how sure it is waits for a person.
        drafts = await ltm.search(query="what is mended?", status=MemoryStatus.DRAFT, limit=1)
        assert [item.content for item in drafts] == ["The user mends nets."]

    asyncio.run(use())


def test_a_summary():
    messages = [HumanMemory(content=f"Buoy {number} is green.") for number in range(25)]
    trigger = check_trigger(messages, SummaryConfig(threshold=20, template=SummaryTemplate.CONVERSATION))
    assert trigger.should_trigger and trigger.messages_to_summarize == messages[:21]
    assert not check_trigger(messages[:20], SummaryConfig(threshold=20)).should_trigger

    class Summarizer:
        async def summarize(self, prompt: str) -> str:
            return "Buoys are green."

    async def awaited(prompt: str) -> str:
        return "Buoys are green."

    for summarizer in (Summarizer(), awaited, lambda prompt: "Buoys are green."):
        summary = asyncio.run(
            generate_summary(
                messages=trigger.messages_to_summarize, summarizer=summarizer, template=SummaryTemplate.FACTS
            )
        )
        assert summary == "Buoys are green."
    turns = [{"role": "user", "content": f"Buoy {number}"} for number in range(25)]
    assert check_trigger(turns, SummaryConfig()).messages_to_summarize == turns[:21]


class Agent:
    """Somebody's agent: it calls its hooks by name, awaited, when it runs and when it streams."""

    def __init__(self) -> None:
        self.hooks: dict[str, list[Any]] = {}

    def add_hook(self, point: str, hook: Any) -> None:
        self.hooks.setdefault(point, []).append(hook)

    def remove_hook(self, point: str, hook: Any) -> None:
        self.hooks[point].remove(hook)

    async def tell(self, point: str, **what: Any) -> None:
        for hook in self.hooks.get(point, []):
            await hook(agent=self, **what)

    async def run(self, text: str) -> None:
        class Call:
            id, name, arguments = "call_1", "tides", '{"place": "Brest"}'

        class Response:
            content, tool_calls = "I look.", [Call()]

        class Result:
            content, tool_call_id, tool_name, error = None, "call_1", "tides", "no such place"

        await self.tell("POST_LLM_CALL", response=Response())
        await self.tell("POST_TOOL_CALL", tool_name="tides", result=Result())

    async def stream(self, text: str) -> None:
        for so_far in ("At", "At noon", "At noon."):
            await self.tell("POST_LLM_CALL", response={"id": "r-2", "content": so_far, "tool_calls": []})


def test_what_an_agent_does_is_saved():
    """Run and stream; attached twice it saves once; detached nothing is left."""

    async def use() -> None:
        agent, store = Agent(), ShortTermMemory(scope="session")
        meta = MemoryMetadata(user_id="u-7", session_id="s-9")
        persistence = MemoryPersistence(store, metadata=meta)
        persistence.attach(agent)
        persistence.attach(agent)
        await store.add(HumanMemory(content="High water?", metadata=meta))
        await agent.run("High water?")
        await agent.stream("High water?")
        items: list[Any] = await store.search(metadata=meta, limit=100)
        assert [item.memory_type for item in items] == ["human", "ai", "tool", "ai"]
        assert [item.content for item in items] == ["High water?", "I look.", "no such place", "At noon."]
        assert items[1].tool_calls[0]["id"] == items[2].tool_call_id == "call_1"
        assert items[2].is_error
        persistence.detach(agent)
        await agent.run("Again?")
        assert len(await store.search(metadata=meta, limit=100)) == 4 and not any(agent.hooks.values())

    asyncio.run(use())


def test_wrappers_around_stores(capsys: pytest.CaptureFixture[str]):
    """Sealed inside, events outside, a checker above: over SQLite and over a hub."""

    async def use(inner: Any) -> None:
        assert isinstance(inner, MemoryStore)
        bus = EventBus()
        encrypted = EncryptedMemoryStore(inner, secret="a long random secret")
        emitter: Any = MemoryEventEmitter(store=encrypted, bus=bus)
        bus.subscribe("memory.added", lambda e: print(f"Added: {e.name}"))  # noqa: T201
        first = HumanMemory(content="The key hangs by the stove.", category=MemoryCategory.SEMANTIC)
        await emitter.add(first)
        raw: Any = await inner.get(first.id)
        assert "stove" not in raw.content
        assert (await emitter.get(first.id)).content == first.content
        assert await emitter.get("nobody") is None
        found = await emitter.search(query="key", category=MemoryCategory.SEMANTIC)
        assert [item.id for item in found] == [first.id]
        assert await emitter.search(query="key", category=MemoryCategory.EPISODIC) == []

        async def skip(prompt: str) -> str:
            return '{"action": "skip", "target_id": "' + first.id + '", "reason": "said"}'

        checked = LongTermMemory(store=emitter, update_checker=MemUpdateChecker(emitter, skip))
        await checked.add(MemoryItem(content="By the stove hangs the key."))
        assert await emitter.clear() == 1
        assert await emitter.search() == []

    asyncio.run(use(SQLiteMemoryStore(":memory:")))
    asyncio.run(use(HubMemoryStore("wrapped")))
    assert capsys.readouterr().out == "Added: memory.added\n" * 2


@pytest.mark.parametrize(
    ("said", "action", "texts"),
    [
        ("ADD", "add", ["Sails on Sundays.", "Sundays are for sails."]),
        ("skip", "skip", ["Sails on Sundays."]),
        (
            '{"action": "update", "merged_content": "Sails on Sundays, always."}',
            "update",
            ["Sails on Sundays, always."],
        ),
    ],
)
def test_a_checker_decides(said: str, action: str, texts: list[str]):
    """In a word, or as the decision in JSON; a decision cannot be changed afterwards."""

    async def checker(prompt: str) -> str:
        return said

    async def use() -> None:
        store = SQLiteMemoryStore()
        ltm = LongTermMemory(store=store, update_checker=MemUpdateChecker(store, checker))
        await ltm.add(MemoryItem(content="Sails on Sundays."))
        new = MemoryItem(content="Sundays are for sails.")
        decision = await MemUpdateChecker(store, checker, similarity_threshold=0.75, top_k=5).check(new)
        assert (decision.action, decision.target_id is None) == (action, action == "add")
        with pytest.raises(ValidationError):
            frozen: Any = decision
            frozen.reason = "another"
        assert isinstance(decision, UpdateDecision)
        await ltm.add(new)
        assert [item.content for item in await ltm.search()] == texts

    asyncio.run(use())


def test_migrations_of_a_store():
    """A list of them, an async connection; twice changes nothing."""

    class Connection:
        """As aiosqlite's: execute and fetchall are awaited."""

        def __init__(self) -> None:
            self.inner = sqlite3.connect(":memory:", isolation_level=None)

        async def execute(self, sql: str) -> Any:
            rows = self.inner.execute(sql).fetchall()

            class Cursor:
                async def fetchall(self) -> Any:
                    return rows

            return Cursor()

    migrations = [
        Migration(version=1, description="Initial schema", up_sql=""),
        Migration(version=2, description="A table", up_sql="CREATE TABLE memory_items (id TEXT)"),
        Migration(version=3, description="Category", up_sql="ALTER TABLE memory_items ADD COLUMN category TEXT"),
    ]
    db = Connection()
    for _ in range(2):
        asyncio.run(MigrationRunner(migrations).run(db))
    applied = db.inner.execute("SELECT version, applied_at FROM _memory_migrations ORDER BY version").fetchall()
    assert [version for version, _ in applied] == [1, 2, 3] and all(at for _, at in applied)
    assert [row[1] for row in db.inner.execute("PRAGMA table_info(memory_items)")] == ["id", "category"]
    db.inner.close()
    with pytest.raises(ValidationError):
        first: Any = migrations[0]
        first.version = 9


def test_an_engine_and_its_tools():
    """manage, search, flush, dream, and what is injected, in a namespace of three parts."""
    engine = MemoryEngine(scope=("org", "acme", "agent-alpha"))
    fact_id = engine.manage_memory("The crane lifts nine tons.", scope=("org", "acme", "agent-alpha"), metadata={})
    assert isinstance(fact_id, str)
    assert [found.text for found in engine.search_memory("how much does the crane lift?", limit=5)] == [
        "The crane lifts nine tons."
    ]
    assert engine.search_memory("crane", scope=("user", "u-7")) == []
    assert engine.flush_messages([{"role": "user", "content": "I live in Brest."}]) is True
    work()
    assert engine.deep_dream(lookback_days=1) is True
    assert "nine tons" in engine.format_for_injection(scope=("org", "acme", "agent-alpha"), max_tokens=200)
    engine.manage_memory(action="delete", id=fact_id)
    assert engine.search("crane") == []
    template = NamespaceTemplate(("user", "{user_id}"))
    assert template(user_id="u-7") == ("user", "u-7")
    other = manage_memory("Oil the winch in May.", "create")
    assert search_memory("winch", limit=3)[0].text == "Oil the winch in May."
    manage_memory("Oil the winch in June.", action="update", id=other)
    assert "June" in format_for_injection(None, 200)

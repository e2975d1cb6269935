"""Long-term memory in a hub and in a local store."""

from __future__ import annotations

import asyncio
import json

import pytest

from memoryhub.client import (
    EncryptedMemoryStore,
    ExtractionType,
    LongTermMemory,
    MemoryCategory,
    MemoryHub,
    MemoryItem,
    MemoryMetadata,
    MemoryStore,
    MemUpdateChecker,
    SQLiteMemoryStore,
)


def texts(memory: MemoryStore, **filters: object) -> list[str]:
    return [item.content for item in asyncio.run(memory.search(**filters))]  # type: ignore[arg-type]


def test_both_ways_to_add(hub: MemoryHub):
    """CON-28, MOD-43, MOD-44: an item, or what it says and what kind of extraction it is."""
    memory = LongTermMemory(hub=hub)
    memory.add(
        content="Anna prefers tea over coffee.",
        extraction_type=ExtractionType.USER_PROFILE,
        metadata=MemoryMetadata(user_id="anna", extra={"bank": "Interests", "importance": 5}),
    )
    memory.add(MemoryItem(content="The ferry leaves at nine."))
    stored = {one.content: one for one in hub.every_memory()}
    tea = stored["Anna prefers tea over coffee."]
    assert (tea.category, tea.user_id, tea.bank, tea.importance) == ("user_profile", "anna", "Interests", 5)
    assert stored["The ferry leaves at nine."].category is None
    assert [each.category.value for each in ExtractionType] == ["user_profile", "episodic", "semantic"]
    with pytest.raises(TypeError):
        memory.add()


def test_the_hub_keeps_nothing_twice_and_namespaces_never_mix(hub: MemoryHub):
    """DUP-01, DUP-12, MOD-21."""
    memory, other = LongTermMemory(hub=hub), LongTermMemory(("org", "acme", "agent-alpha"), hub=hub)
    for _ in range(2):
        memory.add(content="The ferry leaves at nine.")
    other.add(content="The ferry leaves at ten.")
    assert texts(memory) == ["The ferry leaves at nine."]
    assert texts(other) == ["The ferry leaves at ten."]
    assert texts(other, query="when does the ferry leave?") == ["The ferry leaves at ten."]
    assert asyncio.run(memory.clear()) == 1
    assert texts(other) == ["The ferry leaves at ten."]


def test_a_local_store_compares_exactly():
    """DUP-12: the same text of the same role and user once; another user's is another."""
    memory = LongTermMemory(store=SQLiteMemoryStore())
    anna, ben = MemoryMetadata(user_id="anna"), MemoryMetadata(user_id="ben")
    memory.add(content="Likes tea.", metadata=anna)
    memory.add(content="likes  TEA!", metadata=anna)
    memory.add(content="Likes tea.", metadata=ben)
    assert texts(memory) == ["Likes tea.", "Likes tea."]


@pytest.mark.parametrize("where", ["hub", "local", "sealed"])
def test_the_checker_decides(where: str, request: pytest.FixtureRequest):
    """DUP-11, TST-06, ENC-08: category, encryption and dedup together; the checker stands above the seal (DEF-11)."""
    answers: list[str] = []

    async def ask(question: str) -> str:
        assert "Anna" in question
        return answers.pop(0)

    if where == "hub":
        memory = LongTermMemory(hub=request.getfixturevalue("hub"))
    else:
        local = SQLiteMemoryStore()
        memory = LongTermMemory(store=EncryptedMemoryStore(local, "a long secret") if where == "sealed" else local)
    memory.update_checker = MemUpdateChecker(memory, ask, similarity_threshold=0.3)

    async def tell(content: str, *replies: dict[str, str]) -> None:
        answers.extend(json.dumps(reply) for reply in replies)
        await memory.add(content=content, extraction_type=ExtractionType.FACTS)
        assert answers == []

    async def use() -> None:
        await tell("Anna works at the harbour in Bergen.")
        first = (await memory.search())[0]
        await tell("Anna has worked at the harbour in Bergen.", {"action": "SKIP", "target": "m1"})
        assert [item.id for item in await memory.search()] == [first.id]
        merged = "Anna works at the harbour in Bergen, on pier 4."
        await tell("Anna works on pier 4.", {"action": "UPDATE", "target": "m1", "merged_content": merged})
        found = await memory.search(category=MemoryCategory.SEMANTIC)
        assert [(item.id, item.content) for item in found] == [(first.id, merged)]
        newer = "Anna works at the harbour in Bergen, on pier 4 again."
        await tell(newer, {"action": "SUPERSEDE", "target": "m1"})
        assert [item.content for item in await memory.search()] == [newer]

    asyncio.run(use())


def test_what_was_replaced_in_a_hub_is_archived_and_names_its_successor(hub: MemoryHub):
    async def ask(question: str) -> str:
        return json.dumps({"action": "supersede", "target": "m1"})

    memory = LongTermMemory(hub=hub)
    memory.add(content="Anna works at the harbour.")
    memory.update_checker = MemUpdateChecker(memory, ask, similarity_threshold=0.3)
    memory.add(content="Anna works at the harbour no more.")
    newest = hub.list_memories().items
    assert [one.content for one in newest] == ["Anna works at the harbour no more."]
    assert [one.archived for one in hub.read_chain(newest[0].id).items] == [True, False]

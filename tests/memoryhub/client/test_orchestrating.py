"""The queue of conversations to read."""

from __future__ import annotations

import asyncio
import json

import pytest

from memoryhub.client import (
    AIMemory,
    ExtractionType,
    HumanMemory,
    LongTermMemory,
    MemoryCategory,
    MemoryHub,
    MemoryItem,
    MemoryMetadata,
    MemoryOrchestrator,
    MemoryStatus,
    OrchestratorConfig,
    SQLiteMemoryStore,
)

META = MemoryMetadata(user_id="anna", session_id="s-1")


def talk(*said: str) -> list[MemoryItem]:
    return [HumanMemory(content=text, metadata=META) for text in said]


def fact(text: str, **more: object) -> dict[str, object]:
    return {"fact_text": text, "fact_key": "k", "importance": 0.8, "confidence": 1.0, "memory_bank": "work", **more}


def local(**config: object) -> MemoryOrchestrator:
    memory = LongTermMemory(store=SQLiteMemoryStore())
    return MemoryOrchestrator(OrchestratorConfig.model_validate(config), memory)


def test_a_model_reads_it_and_the_rules_judge():
    """EXT-01, EXT-02, EXT-04, MOD-44, CON-03: sure is accepted, doubtful a draft, guesses and rights are dropped."""
    asked: list[str] = []

    async def extractor(prompt: str) -> str:
        asked.append(prompt)
        facts = [
            fact("The user steers a tram.", category="semantic"),
            fact("The user may like ships.", confidence=0.6, category="user_profile"),
            fact("The user guesses.", confidence=0.2),
            fact("The user is allowed to deploy.", category="semantic"),
            {"nothing": "of use"},
        ]
        return f"Here you are: {json.dumps(facts)}"

    orchestrator = local()
    orchestrator.submit([*talk("I steer a tram."), AIMemory(content="Nice!", metadata=META)], extractor=extractor)
    stored = asyncio.run(orchestrator.process_all())
    assert [(item.content, item.status) for item in stored] == [
        ("The user steers a tram.", MemoryStatus.ACCEPTED),
        ("The user may like ships.", MemoryStatus.DRAFT),
    ]
    assert stored[0].category is MemoryCategory.SEMANTIC and stored[0].metadata.user_id == "anna"
    assert (stored[0].metadata.extra["bank"], stored[0].metadata.extra["importance"]) == ("Work", 4)
    assert "I steer a tram." in asked[0] and orchestrator.pending == 0
    assert asyncio.run(orchestrator.process_all()) == []


def test_at_most_so_many_at_a_time():
    """EXT-03: five are taken at once, three are asked at the same time; CON-26: short ones wait."""
    running = peak = 0

    async def extractor(prompt: str) -> str:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.005)
        running -= 1
        return "[]"

    orchestrator = local(batch_size=5, max_concurrent=3, min_items=2)
    for _ in range(11):
        orchestrator.submit(talk("one", "two"), extractor)
    orchestrator.submit(talk("one"), extractor)
    asyncio.run(orchestrator.process_all())
    assert (peak, orchestrator.pending) == (3, 1)
    assert (OrchestratorConfig().batch_size, OrchestratorConfig().max_concurrent) == (5, 3)


@pytest.mark.parametrize("answer", ["I cannot.", '[{"x": 1}]', None])
def test_a_failure_loses_nothing(answer: str | None):
    """DEG-12: the conversation waits again, the others are stored."""

    async def extractor(prompt: str) -> str:
        if "trouble" not in prompt:
            return json.dumps([fact("The user is well.", category="user_profile")])
        if answer is None:
            raise OSError("away")
        return answer

    orchestrator = local()
    orchestrator.submit(talk("trouble"), extractor)
    orchestrator.submit(talk("fine"), extractor)
    with pytest.raises(ExceptionGroup):
        asyncio.run(orchestrator.process_all())
    assert orchestrator.pending == 1
    memory = orchestrator._memory
    assert memory is not None
    assert [item.content for item in asyncio.run(memory.search())] == ["The user is well."]


def test_only_what_is_looked_for():
    async def extractor(prompt: str) -> str:
        both = [fact("About the user.", category="user_profile"), fact("A fact.", category="semantic")]
        return json.dumps({"memories": both})

    orchestrator = local(extraction_types=(ExtractionType.FACTS,))
    orchestrator.submit(talk("something"), extractor)
    assert [item.content for item in asyncio.run(orchestrator.process_all())] == ["A fact."]


def test_without_a_model_and_into_a_hub(hub: MemoryHub):
    """What people say of themselves, by the hub's own patterns; it carries its labels."""
    orchestrator = MemoryOrchestrator(memory=LongTermMemory(hub=hub))
    orchestrator.submit([*talk("My name is Anna."), *talk("I live in Bergen.")])
    asyncio.run(orchestrator.process_all())
    found = {one.content: one for one in hub.every_memory()}
    assert set(found) == {"The user's name is Anna.", "The user lives in Bergen."}
    assert found["The user lives in Bergen."].fact_key == "home"
    assert found["The user lives in Bergen."].user_id == "anna"

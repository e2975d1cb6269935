"""Conversations in, memories out: a queue that has a language model read them, a few at a time (EXT-01…04)."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memories.rules.extracted import ExtractedFact
from memories.rules.extractionprompt import Bank, Conversation, Spoken, extraction_prompt
from memories.rules.facts import Fact, verdict_of
from memories.rules.firstperson import facts_in
from memories.rules.vocabulary import MemoryCategory, Role
from memoryhub.client.asking import Ask, Extracts, asked
from memoryhub.client.items import MemoryItem, MemoryMetadata, MemoryStatus, Said, item_said
from memoryhub.client.longterm import ExtractionType, LongTermMemory
from memoryhub.lib.loosejson import NoJson, find_json

#: The extraction prompt goes in, the model's answer comes out.
type Extractor = Ask | Extracts

_BANKS = ("General", "Personal", "Work", "Relationships", "Health", "Interests", "Events")
_HEARD = (Role.HUMAN, Role.AI)


class OrchestratorConfig(BaseModel):
    """``batch_size`` conversations are taken from the queue at once, ``max_concurrent`` models asked at the same time.

    Conversations of fewer than ``min_items`` messages wait for more; ``extraction_types`` is what is looked for.
    """

    model_config = ConfigDict(frozen=True)

    batch_size: int = Field(default=5, ge=1)
    max_concurrent: int = Field(default=3, ge=1)
    min_items: int = Field(default=1, ge=1)
    extraction_types: tuple[ExtractionType, ...] = tuple(ExtractionType)
    banks: tuple[str, ...] = _BANKS


@dataclass(frozen=True, slots=True)
class _Task:
    messages: list[MemoryItem]
    extractor: Extractor | None


class MemoryOrchestrator:
    """Reads conversations for ``memory``, by default the long-term memory of the hub the environment names.

    The prompt, how its answer is read, and what is kept of it are the hub's own: sure facts are accepted, doubtful
    ones are drafts, guesses and planted permissions are dropped.
    """

    def __init__(self, config: OrchestratorConfig | None = None, memory: LongTermMemory | None = None) -> None:
        self.config = config or OrchestratorConfig()
        self._memory = memory
        self._queue: deque[_Task] = deque()

    @property
    def pending(self) -> int:
        """How many conversations wait."""
        return len(self._queue)

    def submit(self, messages: Sequence[Said], extractor: Extractor | None = None) -> None:
        """Queue a conversation. Without an extractor it is read by patterns, for what people say of themselves."""
        self._queue.append(_Task([item_said(each) for each in messages], extractor))

    async def process_all(self) -> list[MemoryItem]:
        """Read what waits; the items that were stored, in the order submitted.

        A conversation whose extractor fails goes back into the queue; when all others are done, the failures are raised
        as an ExceptionGroup.
        """
        ready = deque(task for task in self._queue if len(task.messages) >= self.config.min_items)
        self._queue = deque(task for task in self._queue if len(task.messages) < self.config.min_items)
        gate = asyncio.Semaphore(self.config.max_concurrent)
        stored: list[MemoryItem] = []
        failures: list[Exception] = []
        while ready:
            batch = [ready.popleft() for _ in range(min(self.config.batch_size, len(ready)))]
            outcomes = await asyncio.gather(*(self._read(task, gate) for task in batch), return_exceptions=True)
            for task, outcome in zip(batch, outcomes, strict=True):
                if isinstance(outcome, Exception):
                    self._queue.append(task)
                    failures.append(outcome)
                elif isinstance(outcome, BaseException):
                    raise outcome
                else:
                    stored += await self._store(outcome)
        if failures:
            raise ExceptionGroup(f"{len(failures)} conversations could not be read; they wait again", failures)
        return stored

    async def _read(self, task: _Task, gate: asyncio.Semaphore) -> list[MemoryItem]:
        spoken = [
            Spoken(number, str(item.memory_type), item.content)
            for number, item in enumerate(task.messages, start=1)
            if item.memory_type in _HEARD
        ]
        if task.extractor is None:
            heard = [one for one in spoken if one.role == Role.HUMAN]
            return self._items(task, [fact for one in heard for fact in facts_in(one.text, one.number)])
        if not any(one.role == Role.HUMAN for one in spoken):
            return []
        async with gate:
            answer = await asked(task.extractor, "\n\n".join(extraction_prompt(self._asked(spoken))), "extract")
        return self._items(task, _facts(answer, [one.number for one in spoken]))

    def _asked(self, spoken: Sequence[Spoken]) -> Conversation:
        return Conversation(
            banks=[Bank(name) for name in self.config.banks],
            default_bank=self.config.banks[0],
            categories=[each.category.value for each in self.config.extraction_types],
            types=[each.value for each in self.config.extraction_types],
            known=[],
            messages=spoken,
            boundary=secrets.token_hex(8),
        )

    def _items(self, task: _Task, facts: Sequence[Fact]) -> list[MemoryItem]:
        wanted = {each.category for each in self.config.extraction_types}
        found = [(fact, verdict_of(fact).status) for fact in facts if fact.category in wanted]
        return [_item(task, fact, status, self.config.banks) for fact, status in found if status is not None]

    async def _store(self, items: Sequence[MemoryItem]) -> list[MemoryItem]:
        if items and self._memory is None:
            self._memory = LongTermMemory()
        for item in items:
            assert self._memory is not None
            await self._memory.add(item)
        return list(items)


def _facts(answer: str, numbers: Sequence[int]) -> list[Fact]:
    """What the answer holds, element by element: a bad one is left out by itself (EXT-18). Raises ValueError."""
    try:
        found = find_json(answer)
    except NoJson:
        raise ValueError("The extractor's answer is no JSON; nothing was read from it.") from None
    elements = found.get("memories", [found]) if isinstance(found, dict) else found
    facts: list[Fact] = []
    for element in elements if isinstance(elements, list) else []:
        try:
            facts.append(ExtractedFact.model_validate(element).to_fact(numbers))
        except ValidationError:
            continue
    if elements and not facts:
        raise ValueError("Nothing in the extractor's answer can be read.")
    return facts


def _item(task: _Task, fact: Fact, status: MemoryStatus, banks: Sequence[str]) -> MemoryItem:
    said_in = task.messages[fact.sources[0] - 1] if fact.sources else task.messages[-1]
    labels: dict[str, Any] = {"importance": fact.importance, "confidence": fact.confidence, "fact_key": fact.key}
    bank = next((name for name in banks if name.casefold() == (fact.bank or "").strip().casefold()), banks[0])
    metadata = MemoryMetadata(
        **said_in.metadata.labels, extra={**labels, "bank": bank, "type": fact.type, "source_kind": "llm_derived"}
    )
    category = MemoryCategory(fact.category) if fact.category else None
    return MemoryItem(content=fact.text, category=category, status=status, metadata=metadata)

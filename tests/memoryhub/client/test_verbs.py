"""Pagers come to an end, whatever answers."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.client import AsyncMemoryHub, MemoryHub, UnexpectedAnswer
from memoryhub.client.verbs import EMPTY_PAGES_MAX
from tests.memoryhub.client.conftest import Answer, Scripted, fine

ITEM = {"id": "0" * 32, "type": "fact", "bank": "General", "created_at": "2026-01-01T00:00:00Z"}
ITEM["updated_at"] = ITEM["created_at"]
EVENT = {"id": "1", "type": "memory.added", "timestamp": "2026-01-01T00:00:00Z", "actor": {}}

type Service = Callable[..., Scripted]


def page(cursor: str | None, *items: Any) -> Answer:
    return fine(items=list(items), next_cursor=cursor)


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([page("a", ITEM)], 2),
        ([page("a", ITEM), page("b", ITEM), page("a", ITEM)], 3),
        ([page(str(number)) for number in range(EMPTY_PAGES_MAX + 5)], EMPTY_PAGES_MAX + 1),
    ],
    ids=["stands still", "goes in a circle", "holds nothing"],
)
def test_a_list_that_never_ends_is_given_up(service: Service, answers: list[Answer], asked: int):
    script = service(*answers)
    with MemoryHub(script.url, "key") as hub, pytest.raises(UnexpectedAnswer, match="in circles"):
        list(hub.every_memory())
    assert len(script.asked) == asked
    script = service(*answers)

    async def use() -> None:
        async with AsyncMemoryHub(script.url, "key") as hub:
            with pytest.raises(UnexpectedAnswer, match="in circles"):
                async for _ in hub.every_memory():
                    pass

    asyncio.run(use())
    assert len(script.asked) == asked


def test_an_empty_page_now_and_then_ends_nothing(service: Service):
    script = service(page("a"), page("b", ITEM), page("c"), page(None, ITEM))
    with MemoryHub(script.url, "key") as hub:
        assert len(list(hub.every_memory())) == 2


@pytest.mark.parametrize("wait", [None, 1])
def test_events_that_do_not_go_on_are_given_up(service: Service, wait: float | None):
    """The same ones again and again; an empty answer to a long poll is none of that."""
    again = fine(items=[EVENT], next="1", more=True)
    nothing = fine(items=[], next="1", more=False)
    script = service(*([nothing] * 3 if wait else []), again)
    with MemoryHub(script.url, "key") as hub, pytest.raises(UnexpectedAnswer, match="in circles"):
        list(hub.every_event(after="1", wait=wait))
    script = service(again)

    async def use() -> None:
        async with AsyncMemoryHub(script.url, "key") as hub:
            with pytest.raises(UnexpectedAnswer, match="in circles"):
                async for _ in hub.every_event(after="1", wait=wait):
                    pass

    asyncio.run(use())


def test_only_what_is_looked_at_is_asked_for(service: Service):
    script = service(page("a", ITEM, ITEM), page("b", ITEM, ITEM))
    with MemoryHub(script.url, "key") as hub:
        assert len(list(itertools.islice(hub.every_memory(), 2))) == 2
    assert len(script.asked) == 1

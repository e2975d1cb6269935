"""With await and without."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from memoryhub.client.acting import Begun, Done, Lane, act


async def answer(value: int) -> int:
    await asyncio.sleep(0)
    return value


def fail() -> None:
    raise OSError("no room")


def test_what_is_done_can_be_awaited():
    async def use() -> tuple[int, int]:
        return await Done(1), await act(Done(2))

    assert asyncio.run(use()) == (1, 2)


def test_without_a_loop_it_is_done_at_once():
    """And raises where it was called."""
    assert isinstance(act(answer(3)), Done)
    lane, done = Lane(), []
    lane.do(lambda: done.append(1))
    assert done == [1]
    with pytest.raises(OSError, match="no room"):
        lane.do(fail)


def test_in_a_loop_it_begins_at_once_and_in_order():
    """The loop goes on meanwhile; what is asked later comes later."""

    async def use() -> list[str]:
        lane, gate, seen = Lane(), threading.Event(), list[str]()

        def wait() -> None:
            gate.wait(5)
            seen.append("first")

        lane.do(wait)
        second = lane.do(lambda: seen.append("second"))
        assert seen == []
        gate.set()
        await second
        task = act(answer(3))
        assert await task == 3
        return seen

    assert asyncio.run(use()) == ["first", "second"]


def test_a_failure_nobody_awaits_is_in_the_log(caplog: pytest.LogCaptureFixture):
    """One that is awaited is raised there, and nowhere else."""

    async def forget(lane: Lane) -> None:
        lane.do(fail)
        await lane.do(lambda: None)

    async def hear(lane: Lane) -> None:
        doing = lane.do(fail)
        assert isinstance(doing, Begun)
        with pytest.raises(OSError, match="no room"):
            await doing

    with caplog.at_level(logging.ERROR, "memoryhub.client.acting"):
        asyncio.run(hear(Lane()))
        assert not caplog.records
        asyncio.run(forget(Lane()))
        assert "no room" in caplog.text

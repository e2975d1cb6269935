"""Things done at once that may also be awaited, so that ``store.add(item)`` works with and without ``await``."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

log = logging.getLogger(__name__)

#: Tasks nobody else holds on to; the event loop itself holds them weakly.
_begun: set[asyncio.Task[Any]] = set()


class Done[Result](Awaitable[Result]):
    """Something that has been done."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __await__(self) -> Generator[Any, Any, Result]:
        yield from ()
        return self._result


class Begun[Result](Awaitable[Result]):
    """Something a thread is doing. When it fails and nobody awaits it, the log says so."""

    def __init__(self, future: Future[Result]) -> None:
        self._future = future
        self._awaited = False

    def __await__(self) -> Generator[Any, Any, Result]:
        self._awaited = True
        return asyncio.wrap_future(self._future).__await__()

    def __del__(self) -> None:
        if not self._awaited:
            self._future.add_done_callback(_tell_failure)


def _tell_failure(future: Future[Any]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log.error("Something was done without being awaited, and failed: %s", error)


class Lane:
    """Does one thing after the other, in the order asked, outside the event loop."""

    def __init__(self) -> None:
        self._open()

    def do[Result](self, act: Callable[[], Result]) -> Awaitable[Result]:
        """Begin now. Without an event loop it is done when this returns, and raises what went wrong."""
        if self._process != os.getpid():
            self._open()  # the thread stayed behind in the process this one was forked from
        future = self._thread.submit(act)
        return Begun(future) if _in_a_loop() else Done(future.result())

    def _open(self) -> None:
        self._process = os.getpid()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memoryhub")


def act[Result](doing: Awaitable[Result]) -> Awaitable[Result]:
    """Begin now what only an event loop can do: as a task of the one that runs, else in one of its own, to its end."""
    if isinstance(doing, Done | Begun | asyncio.Future):
        return doing
    if not _in_a_loop():
        return Done(asyncio.run(_to_the_end(doing)))
    task = asyncio.get_running_loop().create_task(_awaited(doing))
    _begun.add(task)
    task.add_done_callback(_begun.discard)
    return task


def after[Result](doing: Awaitable[Result], then: Callable[[], None]) -> Awaitable[Result]:
    """The same, and ``then`` when it succeeded: at once where it is done already."""
    begun = act(doing)
    if isinstance(begun, Done):
        then()
        return begun

    async def both() -> Result:
        result = await begun
        then()
        return result

    return act(both())


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _to_the_end[Result](doing: Awaitable[Result]) -> Result:
    """With everything it has begun, which would be cut off when the loop closes."""
    result = await doing
    here = asyncio.get_running_loop()
    while begun := [task for task in _begun if task.get_loop() is here]:
        await asyncio.gather(*begun)
    return result


async def _awaited[Result](doing: Awaitable[Result] | Coroutine[Any, Any, Result]) -> Result:
    return await doing

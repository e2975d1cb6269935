"""One HTTP request between two worlds: the protocol lives on an event loop, its work in the request's own thread.

The SDK is asynchronous; services are not, and a request's thread already has its database connection, its open vault
and its request id. So the loop only reads and writes the protocol, and sends every piece of work back to the thread
that waits for the answer. Nothing is streamed: each request is answered by one JSON body.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Scope


@dataclass(frozen=True, slots=True)
class Answer:
    """What the protocol says: an HTTP status, its headers and the whole body."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


@dataclass(slots=True)
class Exchange:
    """The request's thread waits here for work, and leaves when the answer is complete."""

    loop: asyncio.AbstractEventLoop
    _errands: SimpleQueue[Callable[[], None] | None] = field(default_factory=SimpleQueue)

    async def in_request_thread[T](self, work: Callable[[], T]) -> T:
        """The result of ``work``, done by the thread that waits; what it raises ends the request. For the loop."""
        done: asyncio.Future[T] = self.loop.create_future()
        self._errands.put(lambda: self._hand_over(done, work()))
        return await done

    def _hand_over[T](self, done: asyncio.Future[T], result: T) -> None:
        def settle() -> None:
            if not done.done():
                done.set_result(result)

        self.loop.call_soon_threadsafe(settle)

    def answer(self, app: ASGIApp, scope: Scope, body: bytes) -> Answer:
        """What ``app`` answers to the request, its errands done here. Raises what ``app`` or an errand raises."""
        collected = _Collected(body)
        task = asyncio.run_coroutine_threadsafe(_call(app, scope, collected), self.loop)
        task.add_done_callback(lambda _: self._errands.put(None))
        try:
            while (errand := self._errands.get()) is not None:
                errand()
        finally:
            task.cancel()  # does nothing to one that is done
        task.result()
        return collected.answer()


async def _call(app: ASGIApp, scope: Scope, collected: _Collected) -> None:
    await app(scope, collected.receive, collected.send)


class _Collected:
    """The two ends an ASGI application talks to."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._never = asyncio.Event()
        self._status = 500
        self._headers: list[tuple[str, str]] = []
        self._parts: list[bytes] = []

    async def receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        # Nobody hangs up before the answer is complete; whoever still waits then is cancelled with its task.
        await self._never.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))

    def answer(self) -> Answer:
        return Answer(self._status, self._headers, b"".join(self._parts))


@cache
def protocol_loop() -> asyncio.AbstractEventLoop:
    """This process's loop for the protocol, running in a thread of its own from the first request on."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="mcp", daemon=True).start()
    return loop


def keep_running(lifespan: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Enter an asynchronous context on the loop and stay inside for as long as the process lives."""
    entered = threading.Event()

    async def stay() -> None:
        async with lifespan:
            entered.set()
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    task = asyncio.run_coroutine_threadsafe(stay(), loop)
    task.add_done_callback(lambda _: entered.set())
    entered.wait()
    if task.done():
        task.result()

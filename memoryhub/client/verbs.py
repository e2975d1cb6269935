"""Verbs as methods: one declaration serves the client that waits and the one that is awaited."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Self, overload

from memoryhub.client.answers import Event, EventPage, Page
from memoryhub.client.errors import Problem, UnexpectedAnswer
from memoryhub.client.request import Call

EMPTY_PAGES_MAX = 100


class Sender(ABC):
    """Whoever sends a call and waits for its answer."""

    @abstractmethod
    def send[Answered](self, call: Call[Answered]) -> Answered:
        """The answer. Raises MemoryHubError."""


class AsyncSender(ABC):
    """Whoever sends a call and is awaited."""

    @abstractmethod
    async def send[Answered](self, call: Call[Answered]) -> Answered:
        """The answer. Raises MemoryHubError."""


class Verb[**Said, Answered]:
    """A method that sends the call a function makes of its arguments; it has the function's signature and docstring."""

    def __init__(self, call: Callable[Said, Call[Answered]]) -> None:
        self.call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, hub: None, owner: type) -> Self: ...
    @overload
    def __get__(self, hub: Sender, owner: type) -> Callable[Said, Answered]: ...
    @overload
    def __get__(self, hub: AsyncSender, owner: type) -> Callable[Said, Coroutine[Any, Any, Answered]]: ...
    def __get__(self, hub: Sender | AsyncSender | None, owner: type) -> Any:
        if hub is None:
            return self

        @functools.wraps(self.call)
        def verb(*args: Said.args, **kwargs: Said.kwargs) -> Any:
            return hub.send(self.call(*args, **kwargs))

        return verb


class Each[**Said, Item]:
    """A method that goes through every item of a list, page after page, as far as the caller looks."""

    def __init__(self, call: Callable[Said, Call[Page[Item]]]) -> None:
        self.call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, hub: None, owner: type) -> Self: ...
    @overload
    def __get__(self, hub: Sender, owner: type) -> Callable[Said, Iterator[Item]]: ...
    @overload
    def __get__(self, hub: AsyncSender, owner: type) -> Callable[Said, AsyncIterator[Item]]: ...
    def __get__(self, hub: Sender | AsyncSender | None, owner: type) -> Any:
        if hub is None:
            return self

        @functools.wraps(self.call)
        def each(*args: Said.args, **kwargs: Said.kwargs) -> Any:
            call = self.call(*args, **kwargs)
            return _each(hub, call) if isinstance(hub, Sender) else _each_later(hub, call)

        return each


class Followed[**Said]:
    """A method that goes through events: to the last there is, or with ``wait`` on and on as they happen."""

    def __init__(self, call: Callable[Said, Call[EventPage]]) -> None:
        self.call = call
        self.__doc__ = call.__doc__

    @overload
    def __get__(self, hub: None, owner: type) -> Self: ...
    @overload
    def __get__(self, hub: Sender, owner: type) -> Callable[Said, Iterator[Event]]: ...
    @overload
    def __get__(self, hub: AsyncSender, owner: type) -> Callable[Said, AsyncIterator[Event]]: ...
    def __get__(self, hub: Sender | AsyncSender | None, owner: type) -> Any:
        if hub is None:
            return self

        @functools.wraps(self.call)
        def followed(*args: Said.args, **kwargs: Said.kwargs) -> Any:
            call = self.call(*args, **kwargs)
            return _followed(hub, call) if isinstance(hub, Sender) else _followed_later(hub, call)

        return followed


class _Trail:
    """The way from page to page. It must lead on: a list that goes in circles would never end."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._empty = 0

    def step(self, cursor: str, found: int) -> str:
        """The cursor. Raises UnexpectedAnswer where it was followed before, or nothing but empty pages come."""
        self._empty = 0 if found else self._empty + 1
        if cursor in self._seen or self._empty > EMPTY_PAGES_MAX:
            raise _in_circles()
        self._seen.add(cursor)
        return cursor


def _in_circles() -> UnexpectedAnswer:
    detail = "The pages of this list go in circles; what answers is no hub, or one that is mistaken."
    return UnexpectedAnswer(Problem(None, "endless_list", detail))


def _following(page: EventPage, call: Call[EventPage]) -> Call[EventPage] | None:
    """The call for the events after a page; None at the end. They are followed for weeks, so no trail is kept."""
    if not page.more and not call.query.get("wait"):
        return None
    if (page.more or page.items) and page.next == call.query.get("after"):
        raise _in_circles()
    return call.after(page.next, "after")


def _followed(hub: Sender, call: Call[EventPage]) -> Iterator[Event]:
    onward: Call[EventPage] | None = call
    while onward is not None:
        page = hub.send(onward)
        yield from page.items
        onward = _following(page, onward)


async def _followed_later(hub: AsyncSender, call: Call[EventPage]) -> AsyncIterator[Event]:
    onward: Call[EventPage] | None = call
    while onward is not None:
        page = await hub.send(onward)
        for event in page.items:
            yield event
        onward = _following(page, onward)


def _each[Item](hub: Sender, call: Call[Page[Item]]) -> Iterator[Item]:
    trail = _Trail()
    while True:
        page = hub.send(call)
        yield from page.items
        if page.next_cursor is None:
            return
        call = call.after(trail.step(page.next_cursor, len(page.items)))


async def _each_later[Item](hub: AsyncSender, call: Call[Page[Item]]) -> AsyncIterator[Item]:
    trail = _Trail()
    while True:
        page = await hub.send(call)
        for item in page.items:
            yield item
        if page.next_cursor is None:
            return
        call = call.after(trail.step(page.next_cursor, len(page.items)))

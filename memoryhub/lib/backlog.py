"""Work that may wait and, at worst, be lost: handed over at once, done in bulk by one thread of the process.

For statistics only. What must not be lost goes into a job in the transaction of its cause.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable

from django.db import connections

#: Seconds; a database that is away must not keep a process from ending.
ENDS_WITHIN = 3.0


class Backlog[T]:
    """Items waiting for ``work``; when ``capacity`` of them wait, the oldest gives way and ``lost`` is told."""

    def __init__(self, work: Callable[[list[T]], None], lost: Callable[[], None], *, capacity: int, bulk: int) -> None:
        self._work, self._lost, self._bulk = work, lost, bulk
        self._items: deque[T] = deque(maxlen=capacity)
        self._guard = threading.Lock()
        self._some, self._ending = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._pause = 0.0

    def add(self, item: T) -> None:
        """Hand it over; returns at once, whatever the database is doing."""
        with self._guard:
            if len(self._items) == self._items.maxlen:
                self._lost()
            self._items.append(item)
            if self._thread is not None and not self._thread.is_alive() and not self._ending.is_set():
                self._begin()  # a fault ended it; what it was working on is lost, not what comes after
        self._some.set()

    def start(self, pause: float) -> None:
        """Work on the items from now on, every ``pause`` seconds at most ``bulk`` of them; the rest when it ends."""
        self._pause = pause
        self._begin()
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the thread after the items that wait."""
        if self._thread is not None:
            self._ending.set()
            self._some.set()
            self._thread.join(ENDS_WITHIN)

    def flush(self) -> None:
        """Do everything that waits, here and now."""
        while items := self._take():
            self._work(items)

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._keep_working, name="backlog", daemon=True)
        self._thread.start()

    def _take(self) -> list[T]:
        with self._guard:
            return [self._items.popleft() for _ in range(min(self._bulk, len(self._items)))]

    def _keep_working(self) -> None:
        while not self._ending.is_set():
            self._some.wait()
            self._some.clear()
            while not self._ending.wait(self._pause) and (items := self._take()):
                self._work(items)
                connections.close_all()  # it goes back to the pool between two rounds
        self.flush()
        connections.close_all()

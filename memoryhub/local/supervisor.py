"""Keeps the hub's children running, and stops them in order: first who serves and works, then the servers below."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memoryhub.local.processes import Child

RESTARTS, RESTART_SECONDS = 5, 60.0
_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class KeepsEnding(HubError):
    """A process of the hub ends again and again."""

    code = "keeps_ending"
    kind = Kind.UNAVAILABLE


@dataclass
class _Kept:
    begin: Callable[[], Child]
    child: Child
    stage: int
    restarts: deque[float] = field(default_factory=lambda: deque(maxlen=RESTARTS))


class Supervisor:
    """Runs children; ``say`` gets a sentence whenever one had to be started again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._kept: list[_Kept] = []
        self._changed = threading.Event()

    def keep(self, begin: Callable[[], Child], stage: int) -> Child:
        """Start a child and keep it; children of a higher ``stage`` are stopped earlier."""
        child = begin()
        self._kept.append(_Kept(begin, child, stage))
        return child

    def watch(self) -> None:
        """Start again whatever ends. Leaves only by KeyboardInterrupt, or KeepsEnding."""
        signal.signal(signal.SIGCHLD, lambda *_: self._changed.set())
        while True:
            for kept in self._kept:
                if kept.child.exit_code is not None:
                    self._restart(kept)
            self._changed.wait(1.0)
            self._changed.clear()

    def stop(self) -> None:
        """End everybody, stage by stage; those of one stage at the same time."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for stage in sorted({kept.stage for kept in self._kept}, reverse=True):
            children = [kept.child for kept in self._kept if kept.stage == stage]
            for child in children:
                child.ask_to_stop()
            for child in children:
                child.stop()
        self._kept.clear()

    def _restart(self, kept: _Kept) -> None:
        command, code = kept.child.command, kept.child.exit_code
        at = time.monotonic()
        if len(kept.restarts) == RESTARTS and at - kept.restarts[0] < RESTART_SECONDS:
            raise KeepsEnding(f"{command.name} keeps ending; {command.log} says why.")
        kept.child.kill()  # what is left of its group
        self._say(f"{command.name} ended (exit code {code}); starting it again.")
        kept.restarts.append(at)
        try:
            kept.child = kept.begin()
        except HubError as error:
            self._say(error.message)
            self._changed.wait(1.0)


@contextmanager
def stop_signals() -> Iterator[None]:
    """Inside, the first Ctrl-C, SIGTERM or SIGHUP raises KeyboardInterrupt; further ones are ignored."""

    def stop(*_: Any) -> None:
        for number in _STOP:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in _STOP}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

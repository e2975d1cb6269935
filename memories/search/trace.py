"""What each stage of a search took, and how many things went in and came out: for the Recall lab and for bench."""

from __future__ import annotations

import time
from typing import NamedTuple


class Stage(NamedTuple):
    """One stage of one search: its name, its milliseconds, what went in and what came out."""

    name: str
    ms: float
    taken: int
    given: int


class Trace:
    """The stages of one search in the order they ran; each lasts from the end of the one before it."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self._since = time.perf_counter()

    def mark(self, name: str, taken: int, given: int) -> None:
        """The stage ``name`` is over: it made ``given`` things of ``taken`` ones."""
        now = time.perf_counter()
        self.stages.append(Stage(name, (now - self._since) * 1000, taken, given))
        self._since = now

"""Up to which number the stream of events is complete: nothing at or below it can still be committed.

Numbers are drawn when a row is written and seen when its transaction commits, so a lower number may appear after a
higher one. Whoever writes into the stream holds the table's lock from before it draws a number until after its commit
is seen. So: look at the sequence, then at who holds that lock; when all of those are gone, everything up to the number
seen first is there for good. Long transactions that write no events hold nothing up, and writers pay nothing.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from memoryhub.lib.statements import fetch

#: So many unsettled looks are remembered; beyond it every second one is forgotten.
_REMEMBERED = 64
_DRAWN = "SELECT last_value FROM banks_auditentry_id_seq"
_WRITING = """
    SELECT virtualtransaction FROM pg_locks
    WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
      AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND relation IN ('banks_auditentry'::regclass, 'memories_event'::regclass)
"""


@dataclass(frozen=True, slots=True)
class Sight:
    """``drawn``: the highest number anybody has drawn. ``complete``: nothing below or at it will still appear."""

    drawn: int
    complete: int


class Horizon:
    """What one process knows; threads share one look at the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: list[tuple[int, frozenset[str]]] = []
        self._seen, self._at = Sight(0, 0), 0.0

    # Never called in a transaction that has written events itself: it would take its own for committed ones.
    def look(self, no_older_than: float = 0.0) -> Sight:
        """How far the stream is complete now, or was so many seconds ago at most. Two short queries at most."""
        with self._lock:
            if time.monotonic() - self._at >= no_older_than:
                self._seen, self._at = self._look(), time.monotonic()
            return self._seen

    def settled(self, within: float) -> Sight:
        """The same, waiting so many seconds at most until whoever is writing at this moment has committed."""
        first = sight = self.look()
        until = time.monotonic() + within
        while sight.complete < first.drawn and time.monotonic() < until:
            time.sleep(0.005)
            sight = self.look()
        return sight

    def _look(self) -> Sight:
        drawn = int(fetch(_DRAWN, [])[0][0])  # before asking who writes: a later writer draws a higher number
        writing = frozenset(row[0] for row in fetch(_WRITING, []))
        complete = self._seen.complete if drawn >= self._seen.drawn else 0  # the store was replaced
        if drawn < self._seen.drawn:
            self._marks.clear()
        self._marks.append((drawn, writing))
        complete = max([complete, *(mark for mark, writers in self._marks if writers.isdisjoint(writing))])
        self._marks = [mark for mark in self._marks if mark[0] > complete]
        if len(self._marks) > _REMEMBERED:
            del self._marks[1::2]
        return Sight(drawn, complete)


horizon = Horizon()

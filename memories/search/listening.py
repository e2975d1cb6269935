"""Wait for the next event, a while: without a connection of the database in hand, and only so many callers at once.

Nobody is woken by the writers: a notification is sent under a lock that all commits of the server share. Whoever waits
looks at a number every few hundredths of a second instead, all of a process together.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from django.db import connection

from banks.access import Access, require_live
from memories.search.events import EventPage, EventQuery, list_events
from memories.search.horizon import horizon
from memoryhub.env import environment

LONGEST = 20.0
PAUSE = 0.05
#: Half of the web's threads: the other half always serves.
_places = threading.BoundedSemaphore(max(1, environment().web_threads // 2))


def await_events(access: Access, wanted: EventQuery, seconds: float) -> EventPage:
    """The next events, or after so many seconds (20 at most) an empty page. Raises as ``list_events``.

    Beyond as many callers as may wait at once in this process the answer comes at once. A key that was revoked while
    it waited hears nothing more: InvalidKey.
    """
    page = list_events(access, wanted)
    if page.items or seconds <= 0 or not _places.acquire(blocking=False):
        return page
    try:
        return _awaited(access, wanted, page, time.monotonic() + min(seconds, LONGEST))
    finally:
        _places.release()


def _awaited(access: Access, wanted: EventQuery, page: EventPage, until: float) -> EventPage:
    while not page.items and (left := until - time.monotonic()) > 0:
        if not page.more:
            if not connection.in_atomic_block:
                connection.close()  # back to the pool while nothing happens
            time.sleep(min(PAUSE, left))
            if horizon.look(no_older_than=PAUSE / 2).complete <= page.next:
                continue
        require_live(access)
        page = list_events(access, replace(wanted, after=str(page.next)))
    return page

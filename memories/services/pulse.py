"""Notice soon that something happened: a thread of each web process looks at one number twice a second.

Only while some endpoint listens; then a worker is asked to tell it. Writers know nothing of it and pay nothing. Without
a web process, or when it stumbles, the sweeper does the same every ten seconds.
"""

from __future__ import annotations

import threading
import time

import structlog
from django.db import DatabaseError, InterfaceError, connection

from memories.search.horizon import horizon
from memories.services.deliveries import someone_listens
from memoryhub.lib.kick import nudge_deliveries

EVERY, LISTENERS_EVERY, AFTER_FAULT = 0.5, 3.0, 5.0

log = structlog.get_logger(__name__)


def start_pulse() -> None:
    """Look from now on, in the background, until the process ends."""
    threading.Thread(target=_keep_looking, name="pulse", daemon=True).start()


def _keep_looking() -> None:
    listens, asked_at, told = False, 0.0, 0
    while True:
        time.sleep(EVERY if listens else LISTENERS_EVERY)
        try:
            if time.monotonic() - asked_at >= LISTENERS_EVERY:
                listens, asked_at = someone_listens(), time.monotonic()
            if listens and (drawn := horizon.look(no_older_than=EVERY).drawn) != told:
                told = drawn
                nudge_deliveries()
        except (DatabaseError, InterfaceError) as error:
            log.warning("pulse_missed", error=type(error).__name__)
            time.sleep(AFTER_FAULT)
        finally:
            connection.close()

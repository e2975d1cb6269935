"""A sign of life for as long as a process works on a job: who is killed gives none, and another worker takes over.

Every few seconds and not with every step, because one step (building an index, finding clusters, a slow model) may take
as long as it likes. A process that hangs gives signs as well; that is what the worker's time limits are for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import structlog
from django.db import Error, connection

from memories.models import Job
from memories.rules.progress import RENEWED_EVERY
from memories.services.jobs import renew_lease

log = structlog.get_logger(__name__)

#: Who could not renew tries again this soon.
_SOON = 1.0


@contextmanager
def renewed(job: Job) -> Iterator[None]:
    """The job's lease is renewed while this lasts, on a connection of its own once it lasts long enough."""
    over = Event()
    thread = Thread(target=_renew, args=(job, over), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(RENEWED_EVERY.total_seconds())


def _renew(job: Job, over: Event) -> None:
    every = pause = RENEWED_EVERY.total_seconds()
    try:
        while not over.wait(pause):
            pause = every if _was_renewed(job) else min(_SOON, every)
    finally:
        connection.close()


def _was_renewed(job: Job) -> bool:
    try:
        return renew_lease(job.pk, job.attempts)
    except Error as error:
        # The server is away or full: the work itself will notice, and the next try makes a new connection.
        log.warning("lease_not_renewed", job_id=str(job.pk), error=type(error).__name__)
        connection.close()
        return False

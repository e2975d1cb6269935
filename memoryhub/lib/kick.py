"""Tell a worker to look at a job, without ever making the caller wait.

One thread per process talks to the broker. A broker that is away costs the write nothing: the hint is dropped, the
sweeper finds the job in the database (DEG-14).
"""

from __future__ import annotations

import queue
import threading
import time
from uuid import UUID

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

RUN_JOB = "memories.run_job"
DELIVER = "memories.deliver_webhooks"
_WAITING = 1_000
_PAUSE_SECONDS = 5.0

log = structlog.get_logger(__name__)


class _Kicker:
    def __init__(self) -> None:
        self._hints: queue.Queue[UUID | None] = queue.Queue(_WAITING)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._silent_until = 0.0

    def send(self, job_id: UUID | None) -> None:
        """Hand the hint over, of a job or of events to tell; returns at once."""
        if time.monotonic() < self._silent_until:
            return
        with self._starting:
            # A fork copies the object but not the thread.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._deliver, name="kicker", daemon=True)
                self._thread.start()
        try:
            self._hints.put_nowait(job_id)
        except queue.Full:
            log.warning("kick_dropped", job_id=str(job_id), reason="queue_full")

    def _deliver(self) -> None:
        while True:
            job_id = self._hints.get()
            if time.monotonic() < self._silent_until:
                continue
            try:
                if job_id is None:
                    current_app.send_task(DELIVER, expires=10.0)
                else:
                    current_app.send_task(RUN_JOB, args=[str(job_id)])
            except (OperationalError, OSError) as error:
                self._silent_until = time.monotonic() + _PAUSE_SECONDS
                log.warning("kick_failed", job_id=str(job_id), error=type(error).__name__)


_kicker = _Kicker()


def kick(job_id: UUID) -> None:
    """Ask a worker to run the job soon; at worst the sweeper's next round does."""
    _kicker.send(job_id)


def nudge_deliveries() -> None:
    """Ask a worker to tell endpoints what happened; at worst the sweeper's next round does."""
    _kicker.send(None)

"""Threads that start together, each with a connection and a session of its own, as requests have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection

from memoryhub.lib.sealing import gate

START_SECONDS = 120


def together[T](calls: Iterable[Callable[[], T]]) -> list[T | Exception]:
    """Run all calls at once; each one's result, or the exception it ended with, in the order given."""
    waiting = list(calls)
    barrier = Barrier(len(waiting))

    def run(call: Callable[[], T]) -> T | Exception:
        try:
            with gate.session():
                # Connected before the start, so that the race is between statements and not between handshakes.
                connection.ensure_connection()
                barrier.wait(START_SECONDS)
                return call()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(waiting)) as pool:
        return list(pool.map(run, waiting))

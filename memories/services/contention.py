"""Verbs that meet on the same rows: who waits for whom, and who is tried again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

from memoryhub.lib.errors import Conflict

MAX_RACES = 10


class WriteContended(Conflict):
    """Too many writers want the same memory at this moment; nothing was written, send it again."""

    code = "write_contended"


def is_deadlock(error: OperationalError) -> bool:
    """Whether the database ended this transaction so that another one could go on."""
    return isinstance(error.__cause__, DeadlockDetected)


def despite_deadlocks[**P, T](verb: Callable[P, T]) -> Callable[P, T]:
    """Run a verb, which opens its own transaction, again when the database broke a deadlock with it.

    Raises WriteContended.
    """

    @wraps(verb)
    def patient(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(MAX_RACES):
            try:
                return verb(*args, **kwargs)
            except OperationalError as error:
                if not is_deadlock(error):
                    raise
        raise WriteContended

    return patient


def lock_chains(vault_id: UUID) -> None:
    """Until the transaction ends, nobody else joins existing memories of the vault into chains.

    Row locks are not enough: two transactions without a common row can close a circle together (SUP-07).
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [vault_id.int % 2**63])

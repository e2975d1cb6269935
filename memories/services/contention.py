"""Verbs that meet on the same rows: who waits for whom, and who is tried again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.db import IntegrityError, OperationalError, connection
from psycopg.errors import DeadlockDetected

from memories.index.spaces import SpaceMoved
from memoryhub.lib.constraints import violated
from memoryhub.lib.errors import Conflict
from memoryhub.lib.sealing import SEALED_UNDER_KNOWN_KEY, gate

MAX_RACES = 10


class WriteContended(Conflict):
    """Too many writers want the same memory at this moment; nothing was written, send it again."""

    code = "write_contended"


def is_deadlock(error: OperationalError) -> bool:
    """Whether the database ended this transaction so that another one could go on."""
    return isinstance(error.__cause__, DeadlockDetected)


def took_newer_key(error: IntegrityError) -> bool:
    """Whether it was refused for sealing under a key that was retired meanwhile; from now on the newest is used."""
    if violated(error) != SEALED_UNDER_KNOWN_KEY:
        return False
    gate.renew_all()
    return True


def despite_deadlocks[**P, T](verb: Callable[P, T]) -> Callable[P, T]:
    """Run a verb, which opens its own transaction, again when the database broke a deadlock, or refused its data key.

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
            except SpaceMoved:
                continue
            except IntegrityError as error:
                if not took_newer_key(error):
                    raise
        raise WriteContended

    return patient


def lock_chains(vault_id: UUID) -> None:
    """Until the transaction ends, nobody else joins existing memories of the vault into chains.

    Row locks are not enough: two transactions without a common row can close a circle together (SUP-07).
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [vault_id.int % 2**63])

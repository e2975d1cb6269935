"""Whether a pooled connection still works, found out without a round trip."""

from __future__ import annotations

import select
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool


def check_if_it_speaks(connection: Connection[Any]) -> None:
    """Asks the server only where an idle socket has something to tell, which is mostly its end.

    Raises OperationalError when the connection is gone; the pool then gives another one. Asking each time would cost
    every request a round trip, and a server that is away closes what it had open.
    """
    polled = select.poll()
    polled.register(connection.fileno(), select.POLLIN)
    if polled.poll(0):
        ConnectionPool.check_connection(connection)

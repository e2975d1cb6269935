"""The embedded database for one command: the hub's if it runs, else one of our own for as long as it takes."""

from __future__ import annotations

import fcntl
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memoryhub.lib.errors import HubError, Kind
from memoryhub.local.datadir import DataDir, check
from memoryhub.local.locks import COMMAND_SECONDS, DataDirInUse, ServerLock, file_lock
from memoryhub.local.postgres import answers, start_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class NotStarted(HubError):
    """There is no hub in that folder yet."""

    code = "not_started"
    kind = Kind.NOT_FOUND


@contextmanager
def embedded_database(path: Path) -> Iterator[str]:
    """The address of the folder's database, which answers inside the block. Raises NotStarted, DataDirInUse, …

    Whoever started it keeps it up until the last command that came along has finished.
    """
    datadir = check(path)
    if not datadir.marker.exists():
        raise NotStarted(
            f"There is no hub in {datadir.root} yet; start it once with `manage.py up`, or name it in MEMORYHUB_DATA."
        )
    lock, deadline = ServerLock(datadir, "command"), time.monotonic() + COMMAND_SECONDS
    while time.monotonic() < deadline:
        if lock.try_acquire():
            try:
                with _own_server(datadir) as url:
                    yield url
            finally:
                lock.release()
            return
        with file_lock(datadir.users, fcntl.LOCK_SH):
            if answers(datadir.database_url):
                yield datadir.database_url
                return
        time.sleep(0.05)
    raise DataDirInUse(f"{datadir.root} is in use ({lock.holder()}), but its database does not answer.")


@contextmanager
def _own_server(datadir: DataDir) -> Iterator[str]:
    server = start_postgres(datadir)
    try:
        yield server.url
    finally:
        with file_lock(datadir.users, fcntl.LOCK_EX):
            server.stop()

"""Who runs the servers of a data folder: one holder at a time, known by role and process id."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memoryhub.local.datadir import DataDir

Role = Literal["hub", "command"]
COMMAND_SECONDS = 120.0


class DataDirInUse(HubError):
    """Another hub runs on this data folder."""

    code = "data_in_use"
    kind = Kind.CONFLICT


class ServerLock:
    """An exclusive lock on the folder's servers; it ends with the process, however that ends."""

    def __init__(self, datadir: DataDir, role: Role) -> None:
        self._path, self._role = datadir.lock, role
        self._handle: int | None = None

    def try_acquire(self) -> bool:
        """Take it if it is free."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.write(handle, f"{self._role} {os.getpid()}\n".encode())
        self._handle = handle
        return True

    def holder(self) -> str:
        """What the present holder wrote, such as ``hub 4711``."""
        return self._path.read_text().strip()

    def release(self) -> None:
        """Give it back."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def hub_runs(datadir: DataDir) -> bool:
    """Whether a hub runs the folder's servers at this moment."""
    lock = ServerLock(datadir, "command")
    if not datadir.root.is_dir() or not datadir.lock.exists() or not lock.holder().startswith("hub"):
        return False
    if lock.try_acquire():  # the name of one that has ended
        lock.release()
        return False
    return True


@contextmanager
def hub_lock(datadir: DataDir) -> Iterator[None]:
    """The lock for a hub. Waits for a command that is using the servers; raises DataDirInUse for another hub."""
    lock, deadline = ServerLock(datadir, "hub"), time.monotonic() + COMMAND_SECONDS
    while not lock.try_acquire():
        holder = lock.holder()
        if holder.startswith("hub") or time.monotonic() > deadline:
            raise DataDirInUse(f"{datadir.root} is in use by another process ({holder}); stop it first.")
        time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def file_lock(path: Path, operation: int) -> Iterator[None]:
    """A waiting flock on ``path``: fcntl.LOCK_SH for guests, fcntl.LOCK_EX for the one who closes."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, operation)
        yield
    finally:
        os.close(handle)

"""The folders of the embedded servers, made with exactly the permissions they need; others' are never touched."""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

from memoryhub.local.datadir import SYSTEM_STORE, DataDir, DataDirUnwritable, make_private
from memoryhub.local.systemuser import give

if TYPE_CHECKING:
    from pathlib import Path


def prepare_store(datadir: DataDir, user: str | None) -> None:
    """Make what is missing of the servers' folders. Raises DataDirUnwritable."""
    try:
        if datadir.store != datadir.root:
            SYSTEM_STORE.mkdir(mode=0o755, parents=True, exist_ok=True)
        _own(datadir.store, user)
        _own(datadir.run, user)
        _own(datadir.valkey, user)
    except OSError as error:
        raise DataDirUnwritable(f"{error.filename} cannot be used for the servers' files: {error.strerror}.") from None
    refuse_shared(datadir.run)


def refuse_shared(folder: Path) -> None:
    """Sockets carry everything: nobody else may enter their folder. Raises DataDirUnwritable."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077 or (os.geteuid() and found.st_uid != os.geteuid()):
        raise DataDirUnwritable(f"{folder} must be a folder of mode 0700 that belongs to this user; remove it.")


def discard(datadir: DataDir) -> None:
    """Delete a hub's data for good, wherever it lies. For tests and demonstrations."""
    for folder in (datadir.run, datadir.store, datadir.root):
        shutil.rmtree(folder, ignore_errors=True)


def _own(folder: Path, user: str | None) -> None:
    if not folder.exists():
        make_private(folder)
        give(folder, user)

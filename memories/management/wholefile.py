"""Files that commands write: there whole or not at all, for their owner only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from memoryhub.lib.errors import HubError, Kind


class FileUnwritable(HubError):
    """The file cannot be written there."""

    code = "file_unwritable"
    kind = Kind.UNAVAILABLE


@contextmanager
def whole_file(path: Path, *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under ``path`` when the block ends well, synced to the disk, mode 0600.

    Raises FileUnwritable; a file that is there already stays unless ``overwrite``.
    """
    if path.exists() and not overwrite:
        raise FileUnwritable(f"{path} is already there; choose another name, or add --overwrite.")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise FileUnwritable(f"{path} cannot be written: {error.strerror}.") from None
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise FileUnwritable(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

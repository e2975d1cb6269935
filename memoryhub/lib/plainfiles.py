"""Files of an operator's disk: only ordinary ones are opened, and never more of one is read than was allowed.

A link, a pipe, a socket or a device may never end, or be something else by the time it is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from memoryhub.lib.errors import Invalid


class FileNotOrdinary(Invalid):
    """This is no ordinary file, but a device, a pipe or a socket; give a file, or a folder of files."""

    code = "file_not_ordinary"


def ordinary_size(path: Path) -> int:
    """Bytes of the file that was named, through a link if it is one. Raises FileNotOrdinary, OSError."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise FileNotOrdinary
    return found.st_size


def is_ordinary(path: Path) -> bool:
    """Whether it is a file by itself, and no link to one. Raises OSError."""
    return stat.S_ISREG(path.lstat().st_mode)


def read_within(path: Path, most: int) -> bytes | None:
    """The file, whole; None when it has more than ``most`` bytes, whatever its size was said to be.

    Raises FileNotOrdinary, OSError.
    """
    # What became a pipe since it was looked at must not be waited for.
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise FileNotOrdinary
        body = None if os.fstat(opened).st_size > most else file.read(most + 1)
    return None if body is None or len(body) > most else body


def files_below(top: Path) -> Iterator[Path]:
    """Everything in a folder that is no folder, in the order of names; hidden ones aside, and no link is followed."""
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(folder, name)

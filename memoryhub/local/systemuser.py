"""The unprivileged account PostgreSQL runs under when the hub itself runs as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from typing import TYPE_CHECKING

from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from pathlib import Path

NAME = "memoryhub"
_WAYS = {
    "useradd": ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false"],
    "adduser": ["-S", "-D", "-H", "-s", "/bin/false"],
}


class NoSystemUser(HubError):
    """PostgreSQL does not run as root, and no account could be made for it."""

    code = "no_system_user"
    kind = Kind.UNAVAILABLE


def server_user() -> str | None:
    """The account for the embedded servers: none (this one) unless the hub runs as root. Raises NoSystemUser."""
    if os.geteuid() != 0:
        return None
    if not _exists():
        _create()
    return NAME


def give(folder: Path, user: str | None) -> None:
    """Hand a folder that the hub has just made to the account."""
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)


def may_use(files: list[Path], user: str | None) -> bool:
    """Whether the account can reach and read all of ``files``, asked by trying."""
    if user is None:
        return all(os.access(file, os.R_OK) for file in files)
    script = 'for file; do test -r "$file" || exit 1; done'
    words = ["/bin/sh", "-c", script, "sh", *map(str, files)]
    return subprocess.run(words, user=user, group=user, extra_groups=[], cwd="/", check=False).returncode == 0


def _exists() -> bool:
    try:
        pwd.getpwnam(NAME)
    except KeyError:
        return False
    return True


def _create() -> None:
    for tool, options in _WAYS.items():
        if shutil.which(tool):
            done = subprocess.run([tool, *options, NAME], capture_output=True, text=True, check=False)
            if _exists():  # also when another process was faster
                return
            raise NoSystemUser(
                f"PostgreSQL does not run as root, and {tool} could not add {NAME}: {done.stderr.strip()}."
            )
    raise NoSystemUser(
        f"PostgreSQL does not run as root: add a system user {NAME}, run the hub as another user, or set DATABASE_URL."
    )

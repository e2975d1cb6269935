"""The data folder: what lies where, and whose it is.

An unprivileged hub keeps everything inside the folder. PostgreSQL refuses to run as root, so root's hub keeps the
servers' files under ``/var/lib/memoryhub/<id>``, a place another user can reach without any folder being opened up.
The id is in the folder's marker, so a moved folder keeps its data and a deleted one never finds somebody else's.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memoryhub.lib.errors import HubError, Kind

FORMAT = 1
SYSTEM_STORE = Path("/var/lib/memoryhub")
SOCKET_BYTES = 107
_LONGEST_NAME = ".s.PGSQL.5432.lock"
_PLAIN = re.compile(r"[A-Za-z0-9/._-]+")


class ForeignDataDir(HubError):
    """The folder holds something that is not a hub's data."""

    code = "foreign_data"
    kind = Kind.CONFLICT


class DataDirUnwritable(HubError):
    """The data folder cannot be written."""

    code = "data_unwritable"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True)
class DataDir:
    """One hub's folders; ``store`` holds the servers' files, ``run`` their sockets."""

    root: Path
    id: str
    store: Path
    run: Path

    @property
    def marker(self) -> Path:
        """Says that the folder is a hub's, and which."""
        return self.root / "memoryhub.json"

    @property
    def bootstrap(self) -> Path:
        """What the first start tells its owner."""
        return self.root / "bootstrap.json"

    @property
    def lock(self) -> Path:
        """Held by whoever runs the servers."""
        return self.root / "servers.lock"

    @property
    def users(self) -> Path:
        """Held, shared, by commands that use servers somebody else started."""
        return self.root / "users.lock"

    @property
    def postgres(self) -> Path:
        """PostgreSQL's files."""
        return self.store / "postgres"

    @property
    def valkey(self) -> Path:
        """Valkey's working folder."""
        return self.store / "valkey"

    @property
    def logs(self) -> Path:
        """One file per process."""
        return self.root / "logs"

    @property
    def database_url(self) -> str:
        """Where the embedded PostgreSQL listens while it runs."""
        return f"postgresql://memoryhub@/memoryhub?host={self.run}"

    @property
    def broker_url(self) -> str:
        """Where the embedded Valkey listens while it runs."""
        return f"redis+socket://{self.broker_socket}?virtual_host=0"

    @property
    def broker_socket(self) -> Path:
        """Valkey's socket."""
        return self.run / "valkey.sock"

    @property
    def storage(self) -> list[str]:
        """Every folder that holds data of this hub: what a backup must cover."""
        return [str(folder) for folder in dict.fromkeys((self.root, self.store))]


def locate(path: Path) -> DataDir:
    """The layout for ``path``; touches nothing. Raises ForeignDataDir when a marker is there and not ours."""
    root = path.expanduser().resolve()
    hub_id = _marked_id(root) or _new_id(root)
    store = SYSTEM_STORE / hub_id if os.geteuid() == 0 else root
    run = store / "run"
    path_is_usable = len(str(run / _LONGEST_NAME).encode()) <= SOCKET_BYTES and _PLAIN.fullmatch(str(run))
    if not path_is_usable:
        run = Path(tempfile.gettempdir()) / f"memoryhub-{os.geteuid()}-{hub_id}"
    return DataDir(root=root, id=hub_id, store=store, run=run)


def check(path: Path) -> DataDir:
    """The layout for ``path`` when the hub may use it; changes nothing. Raises ForeignDataDir, DataDirUnwritable."""
    datadir = locate(path)
    root = datadir.root
    if root.is_dir():
        # Keys may be brought to a new place before the data they open.
        if not datadir.marker.exists() and any(item.name != "keys.json" for item in _listed(root)):
            raise ForeignDataDir(
                f"{root} is not empty and not a hub's data folder; choose an empty or new one with --data."
            )
        existing = root
    else:
        existing = next(parent for parent in (root, *root.parents) if parent.exists())
    if not existing.is_dir():
        raise DataDirUnwritable(f"{existing} is a file, so {root} cannot be a folder; choose another with --data.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DataDirUnwritable(f"{root} cannot be written by this user; choose another folder with --data.")
    return datadir


def prepare(path: Path) -> DataDir:
    """Check the folder, then make what is missing in it, for this user only. Raises as ``check`` does."""
    datadir = check(path)
    try:
        datadir.root.parent.mkdir(parents=True, exist_ok=True)
        make_private(datadir.root)
        make_private(datadir.logs)
        if not datadir.marker.exists():
            write_private(datadir.marker, json.dumps({"format": FORMAT, "id": datadir.id}) + "\n")
    except OSError as error:
        raise DataDirUnwritable(
            f"{datadir.root} cannot be written ({error.strerror}); choose another folder with --data."
        ) from None
    return datadir


def make_private(folder: Path) -> None:
    """Create a folder of mode 0700; one that is already there stays as it is."""
    folder.mkdir(mode=0o700, exist_ok=True)


def write_private(path: Path, text: str) -> None:
    """Replace a file by one only its owner may read, whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(path)


def _listed(root: Path) -> list[Path]:
    try:
        return list(root.iterdir())
    except PermissionError:
        raise DataDirUnwritable(f"{root} cannot be read by this user; choose another folder with --data.") from None


def _marked_id(root: Path) -> str | None:
    try:
        marker = json.loads((root / "memoryhub.json").read_text())
        hub_id, version = marker["id"], marker["format"]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (ValueError, KeyError, TypeError):
        raise ForeignDataDir(f"{root / 'memoryhub.json'} is damaged; restore it, or choose another --data.") from None
    if version != FORMAT or not re.fullmatch("[0-9a-f]{12}", str(hub_id)):
        raise ForeignDataDir(f"{root} was written by another release; start that one, or choose another --data.")
    return str(hub_id)


@cache
def _new_id(root: Path) -> str:
    # One id per process: settings are computed before the marker is written.
    return secrets.token_hex(6)

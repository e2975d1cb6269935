"""What a backup says about itself: its schema, its keys by their check values, and every table with its checksum."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from banks.access.keyring import WrongKey, master_keys
from memoryhub.env import secrets
from memoryhub.lib.crypto import MasterKeys, UnknownKey, derive, keyed_hash, same
from memoryhub.lib.errors import HubError, Kind

FORMAT = 1


class BackupDamaged(HubError):
    """The file is damaged or incomplete; use another copy of the backup."""

    code = "backup_damaged"
    kind = Kind.INVALID


class BackupTooNew(HubError):
    """The backup was made by a newer release of the hub; install that release and restore again."""

    code = "backup_too_new"
    kind = Kind.CONFLICT


@dataclass(frozen=True, slots=True)
class Table:
    """One table as it lies in the file: ``digest`` is the SHA-256 of its rows in PostgreSQL's text format."""

    name: str
    columns: list[str]
    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """``checks`` are key id → check value of every master key the store remembers, ``needed`` those that wrap data."""

    created_at: str
    postgres: str
    migrations: dict[str, list[str]]
    checks: dict[str, str]
    needed: list[int]
    pepper_check: str
    counts: dict[str, int]
    tables: list[Table]
    format: int = FORMAT

    def written(self) -> bytes:
        """The manifest as it goes into the file, signed under a key the store needs."""
        body = _canonical(asdict(self))
        key_id = max(self.needed, default=master_keys().active)
        signature = keyed_hash(derive(master_keys().get(key_id), "backup"), body).hex()
        return _canonical({"manifest": asdict(self), "signed_by": key_id, "signature": signature})


@dataclass(frozen=True, slots=True)
class ReadManifest:
    """A manifest and the proof that a hub with these keys wrote it."""

    manifest: Manifest
    signed_by: int
    signature: str

    def check_keys(self) -> None:
        """Compare the keys at hand with those the backup was made under; nothing is asked of any database.

        Raises SecretsMissing, UnknownKey, WrongKey, and BackupDamaged when somebody edited the file.
        """
        keys = master_keys()
        for key_id in sorted({*self.manifest.needed, self.signed_by}):
            _refuse_missing(keys, key_id)
            check = self.manifest.checks.get(str(key_id))
            if check is not None and not same(keys.check_value(key_id), bytes.fromhex(check)):
                raise WrongKey(
                    f"Encryption key {key_id} is not the one this backup was made with; nothing was changed. "
                    "Bring that hub's key in MEMORYHUB_KEYS (or its keys.json into the data folder) and restore again."
                )
        body = _canonical(asdict(self.manifest))
        if not same(keyed_hash(derive(keys.get(self.signed_by), "backup"), body), bytes.fromhex(self.signature)):
            raise BackupDamaged("The backup's manifest does not bear this hub's signature; use another copy of it.")

    def names_other_pepper(self) -> bool:
        """Whether API keys of the backup will be refused, because their hash hangs on another pepper."""
        return not same(pepper_check(), bytes.fromhex(self.manifest.pepper_check))


def read_manifest(written: bytes) -> ReadManifest:
    """The manifest in a file. Raises BackupDamaged, BackupTooNew."""
    try:
        found = json.loads(written)
        if found["manifest"]["format"] != FORMAT:
            raise BackupTooNew
        told: dict[str, Any] = found["manifest"]
        tables = [Table(**table) for table in told["tables"]]
        return ReadManifest(Manifest(**{**told, "tables": tables}), int(found["signed_by"]), str(found["signature"]))
    except (ValueError, KeyError, TypeError):
        raise BackupDamaged("The backup's manifest cannot be read; use another copy of the file.") from None


def pepper_check() -> bytes:
    """A fingerprint of the pepper, so that a restore can say whether API keys will go on working."""
    return keyed_hash(secrets().pepper, b"memoryhub pepper check 1")


def _refuse_missing(keys: MasterKeys, key_id: int) -> None:
    if key_id not in keys.keys:
        raise UnknownKey(
            f"This backup was made under encryption key {key_id}, which is not here; nothing was changed. "
            "Add it to MEMORYHUB_KEYS (or bring that hub's keys.json) and restore again."
        )


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

"""Zip files of strangers: looked into and read within bounds, never unpacked onto a disk."""

from __future__ import annotations

import gzip
import io
import stat
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO

from memoryhub.lib.errors import Invalid

_ENCRYPTED = 0x1


class ArchiveRefused(Invalid):
    """The archive cannot be read; pack it again and send it once more."""

    code = "archive_refused"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many files an archive may have, and how large one of them and all of them may be once unpacked."""

    member_bytes: int
    total_bytes: int
    members: int = 100_000


class Archive:
    """A zip whose every member was judged by its name and size before any is read. Raises ArchiveRefused."""

    def __init__(self, file: IO[bytes], bounds: Bounds) -> None:
        self._bounds = bounds
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            raise ArchiveRefused("The file is no zip, or is not all there; send it again.") from None
        infos = [info for info in self._zip.infolist() if not info.is_dir()]
        self._members = {info.filename: info for info in infos}
        if len(infos) > bounds.members or sum(info.file_size for info in infos) > bounds.total_bytes:
            raise ArchiveRefused(
                f"Unpacked, the archive would have more than {bounds.total_bytes >> 20} MiB or {bounds.members} files; "
                "import it in parts, or raise import_max_mib in the settings."
            )
        if len(self._members) < len(infos):
            raise ArchiveRefused("The archive has the same name twice; pack it again.")
        for info in infos:
            _refuse_bad_member(info)

    @property
    def names(self) -> list[str]:
        """The files in it, in their order."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """One file, whole. Raises ArchiveRefused when it is too large or damaged."""
        info, most = self._members[name], self._bounds.member_bytes
        if info.file_size > most:
            raise ArchiveRefused(f"A file in the archive has more than {most >> 20} MiB; import it in parts.")
        try:
            with self._zip.open(info) as member:
                body = member.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError):
            raise ArchiveRefused("A file in the archive is damaged; pack it again.") from None
        if len(body) > most:
            raise ArchiveRefused(f"A file in the archive has more than {most >> 20} MiB; import it in parts.")
        return body

    def written_at(self, name: str) -> str | None:
        """The day and time the archive notes for a file, as ISO 8601 without a zone."""
        year, month, day, hour, minute, second = self._members[name].date_time
        return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}" if year > 1980 else None


def _refuse_bad_member(info: zipfile.ZipInfo) -> None:
    name = info.filename
    if name.startswith("/") or "\\" in name or "\0" in name or ":" in name[:3] or ".." in name.split("/"):
        raise ArchiveRefused("The archive names a file outside of itself; it was not made by an export.")
    if info.flag_bits & _ENCRYPTED:
        raise ArchiveRefused("The archive is encrypted; unpack it and pack it again without a password.")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise ArchiveRefused("The archive holds a link instead of a file; pack the files themselves.")


def unzipped(body: bytes, most: int) -> bytes:
    """What a gzip holds. Raises ArchiveRefused when it is more than ``most`` bytes, or damaged."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as packed:
            found = packed.read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise ArchiveRefused("A packed file is damaged; pack it again.") from None
    if len(found) > most:
        raise ArchiveRefused(f"A packed file has more than {most >> 20} MiB; import it in parts.")
    return found

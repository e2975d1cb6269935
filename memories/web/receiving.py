"""A file on its way from a browser: never written to a disk in clear.

An export of a hub is sealed piece by piece as it arrives. A file of another program has to be read whole, so it is held
in memory, up to the size the settings allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload

from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import is_export
from memories.rules.imports import ImportOptions
from memories.services.imports import begin_import, held_at_once, stage_lines

if TYPE_CHECKING:
    from uuid import UUID

    from memories.web.requests import HubRequest

PIECE = 1 << 20


class SealingUpload(FileUploadHandler):
    """Put it in front of Django's own handlers, which would keep large files in a temporary folder."""

    def __init__(self, request: HubRequest) -> None:
        super().__init__(request)
        self.access = request.access
        self.import_id: UUID | None = None
        #: The whole file, when it is another program's.
        self.foreign: bytearray | None = None
        #: Why the file is not taken; the rest of it is read and dropped, so that the answer arrives.
        self.refused: FileRefused | None = None
        self._held = b""
        self._is_begun = False

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """A file begins."""
        super().new_file(*args, **kwargs)
        if self.import_id is None:
            self.import_id = begin_import(self.access, ImportOptions()).pk

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Take a piece; nobody else gets to see it. Raises StopUpload when the file is refused."""
        try:
            self._take(raw_data)
        except FileRefused as refusal:
            self.refused = refusal
            raise StopUpload(connection_reset=False) from None

    def _take(self, raw_data: bytes) -> None:
        if not self._is_begun and raw_data:
            self._is_begun = True
            self.foreign = None if is_export(raw_data) else bytearray()
        if self.foreign is not None:
            most = held_at_once(self.access)
            if len(self.foreign) + len(raw_data) > most:
                raise FileRefused(
                    f"The file has more than {most >> 20} MiB; import it at a terminal with `manage.py import`, "
                    "or raise import_document_max_mib in the settings."
                )
            self.foreign += raw_data
            return
        self._held += raw_data
        if len(self._held) >= PIECE:
            whole, line_break, rest = self._held.rpartition(b"\n")
            # Without any line break in it the line is too long, which the staging says in a sentence.
            self._stage(whole + line_break or rest)
            self._held = rest if line_break else b""

    def file_complete(self, file_size: int) -> SimpleUploadedFile:
        """The file's name for the form; its content is in the import, or held."""
        try:
            if self._held:
                self._stage(self._held)
        except FileRefused as refusal:
            self.refused = refusal
        self._held = b""
        return SimpleUploadedFile(self.file_name or "file", b"")

    def _stage(self, piece: bytes) -> None:
        if self.import_id is not None:
            stage_lines(self.access, self.import_id, [piece])

"""A whole vault out and in: exports that stream, imports that are checked first."""

from __future__ import annotations

import datetime as dt
from base64 import b64decode
from typing import Annotated, Any, Literal, Self, TypedDict
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from ninja import Router
from pydantic import Field, StrictBool, model_validator, with_config
from pydantic_core import PydanticCustomError

from banks.access import KeyScope, WholeVaultNeeded
from banks.services.banks import UnknownBank
from memories.api.jobs import JobOut, job_out
from memories.api.requests import ApiRequest
from memories.models import VaultImport
from memories.rules.drafts import Namespace
from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import ImportKind
from memories.rules.imports import FileWish, ImportOptions
from memories.rules.limits import LABEL_MAX
from memories.rules.vocabulary import ImportState
from memories.services import exporting, imports, received
from memories.services.imports import ImportNotReady, LinesInterleaved
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()
MEDIA_TYPE = "application/x-ndjson"
#: The first lines of an export, shortened.
HEADER_SHOWN = '{"kind":"header","format":"memoryhub-export","version":1,"exported_at":"2026-11-21T10:00:00Z"}\n'
LINE_SHOWN = '{"kind":"bank","name":"Garage","description":"Tools."}\n'
#: What fits into one request.
TEXT_MAX = 5 * 1024 * 1024
Text = Annotated[str, Field(min_length=1, max_length=TEXT_MAX, strict=True)]


class ExportWanted(StrictModel):
    """What else is to be in it."""

    model_config = shown({"revisions": False})

    revisions: StrictBool = False


class Piece(StrictModel):
    """What is sent of a file: its ``text``, or any bytes as ``base64``; ``complete: false`` when more follows."""

    model_config = shown({"text": LINE_SHOWN, "complete": True})

    text: Text | None = None
    base64: Text | None = None
    complete: StrictBool = True

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.text is None) == (self.base64 is None):
            raise PydanticCustomError("one_of", "needs either text or base64, and not both")
        return self

    @property
    def body(self) -> bytes:
        """The bytes that are meant. Raises Invalid."""
        try:
            return b64decode(self.base64, validate=True) if self.base64 is not None else (self.text or "").encode()
        except ValueError:
            raise Invalid(
                errors=[FieldError("/base64", "no_base64", "is not Base64; encode the bytes again")]
            ) from None


class ImportWanted(ImportOptions, Piece):
    """How to read the file, whose it is (``auto`` finds out), where its memories go, and its first piece.

    ``name``, ``bank`` and ``namespace`` are for files of other programs.
    """

    model_config = shown({"text": HEADER_SHOWN, "dry_run": True, "complete": False})

    kind: ImportKind | Literal["auto"] = ImportKind.MEMORYHUB
    name: Annotated[str, Field(min_length=1, max_length=LABEL_MAX)] = "file"
    bank: Annotated[str, Field(min_length=1, max_length=50)] | None = None
    namespace: Namespace | None = None

    @property
    def wish(self) -> FileWish:
        """Whose file it is and where its memories go."""
        kind = None if self.kind == "auto" else ImportKind(self.kind)
        return FileWish(name=self.name, kind=kind, bank=self.bank, namespace=self.namespace)


@with_config(shown({"line": 17, "code": "too_long", "detail": "The content is longer than 100,000 characters."}))
class RefusedLine(TypedDict):
    """A line that was not taken, and why."""

    line: int
    code: str
    detail: str


@with_config(shown({"there": "metadata", "here": "extra", "count": 401, "lost": 2, "examples": [17, 290]}))
class MappedField(TypedDict):
    """A field of another program, what it becomes here, how often it was there, and where not all of it was kept."""

    there: str
    here: str
    count: int
    lost: int
    examples: list[int]


@with_config(
    shown(
        {
            "kind": "memoryhub",
            "state": "checked",
            "dry_run": True,
            "lines": 413,
            "bytes": 201344,
            "found": {"memory": {"new": 380, "same": 32}},
        }
    )
)
class ImportOut(TypedDict):
    """One import. ``found`` is what the check said of the lines, by kind; ``made`` what became of them.

    ``kind`` is ``auto`` until the job has found out; ``mapping`` says what became of the fields of another program.
    """

    id: UUID
    kind: str
    mapping: list[MappedField]
    state: Annotated[str, Word(ImportState)]
    dry_run: bool
    dedup: bool
    update: bool
    keep_provenance: bool
    lines: int
    bytes: int
    found: dict[str, dict[str, int]]
    made: dict[str, dict[str, int]]
    refused: list[RefusedLine]
    error: str
    changeset_id: UUID | None
    job: JobOut | None
    created_at: dt.datetime
    finished_at: dt.datetime | None


class ImportList(TypedDict):
    """The newest imports."""

    items: list[ImportOut]


def import_out(found: VaultImport) -> ImportOut:
    """One import."""
    chosen: dict[str, Any] = found.options
    return {
        "id": found.pk,
        "kind": found.kind,
        "mapping": found.mapping,
        "state": found.state,
        "dry_run": chosen["dry_run"],
        "dedup": chosen["dedup"],
        "update": chosen["update"],
        "keep_provenance": chosen["keep_provenance"],
        "lines": found.lines,
        "bytes": found.bytes,
        "found": found.found,
        "made": found.made,
        "refused": opened(found, "refused") or [],
        "error": found.error,
        "changeset_id": found.changeset_id,
        "job": job_out(found.job) if found.job else None,
        "created_at": found.created_at,
        "finished_at": found.finished_at,
    }


@router.post("/exports", **told("Export the vault", KeyScope.EXPORT, also={MEDIA_TYPE: HEADER_SHOWN + LINE_SHOWN}))
def export_vault(
    request: ApiRequest,
    wanted: ExportWanted = ExportWanted(),  # noqa: B008
) -> StreamingHttpResponse:
    """The whole vault as JSON lines, in plain text, streamed; audited. A header first, a checksum last."""
    lines = exporting.export_vault(request.access, with_revisions=wanted.revisions)
    return StreamingHttpResponse(lines, content_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})


@router.post(
    "/imports",
    response={202: ImportOut},
    **told("Begin an import", KeyScope.IMPORT, WholeVaultNeeded, FileRefused, UnknownBank),
)
def begin_import(request: ApiRequest, body: ImportWanted) -> HttpResponse:
    """Take in an export, or a file of another program, and check it in a job; `dry_run: false` goes on to import it."""
    piece = body.body
    options = ImportOptions(**body.model_dump(include=set(ImportOptions.model_fields)))
    found = imports.begin_import(request.access, options)
    if body.kind == ImportKind.MEMORYHUB:
        found = imports.stage_lines(request.access, found.pk, [piece])
    else:
        found = received.stage_file(request.access, found.pk, body.wish, piece)
    return _staged(request, found, body.complete)


@router.get("/imports", response=ImportList, **told("List imports", KeyScope.IMPORT, WholeVaultNeeded))
def list_imports(request: ApiRequest) -> HttpResponse:
    """The vault's newest imports."""
    return json_answer({"items": [import_out(found) for found in imports.list_imports(request.access)]})


@router.get("/imports/{import_id}", response=ImportOut, **told("Read an import", KeyScope.IMPORT, WholeVaultNeeded))
def get_import(request: ApiRequest, import_id: str) -> HttpResponse:
    """One import: its state, what the check found, how far it is, what it made, which lines were refused."""
    return json_answer(import_out(imports.get_import(request.access, import_id)))


@router.post(
    "/imports/{import_id}/lines",
    response={202: ImportOut},
    **told("Send more of an import", KeyScope.IMPORT, WholeVaultNeeded, FileRefused, ImportNotReady, LinesInterleaved),
)
def stage_lines(request: ApiRequest, import_id: str, body: Piece) -> HttpResponse:
    """More of a file that was begun with `complete: false`: whole lines of an export, any bytes of another file."""
    return _staged(request, received.stage_more(request.access, import_id, body.body), body.complete)


@router.post(
    "/imports/{import_id}/apply",
    response={202: ImportOut},
    **told("Carry out a checked import", KeyScope.IMPORT, WholeVaultNeeded, ImportNotReady),
)
def apply_import(request: ApiRequest, import_id: str) -> HttpResponse:
    """Carry out an import that was checked as a dry run."""
    return json_answer(import_out(imports.apply_import(request.access, import_id)), status=202)


def _staged(request: ApiRequest, found: VaultImport, complete: bool) -> HttpResponse:
    if complete:
        found = imports.check_import(request.access, found.pk)
    return json_answer(import_out(found), status=202)

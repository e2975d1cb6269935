"""A whole vault out and in: exports that stream, imports that are checked first."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from ninja import Router
from pydantic import Field, StrictBool

from memories.api.jobs import JobOut, job_out
from memories.api.requests import ApiRequest
from memories.models import VaultImport
from memories.rules.imports import ImportOptions
from memories.services import exporting, imports
from memoryhub.lib.answers import json_answer
from memoryhub.lib.sealing import opened
from memoryhub.lib.strict import StrictModel

router = Router()
MEDIA_TYPE = "application/x-ndjson"
#: What fits into one request.
TEXT_MAX = 5 * 1024 * 1024
Text = Annotated[str, Field(min_length=1, max_length=TEXT_MAX, strict=True)]


class ExportWanted(StrictModel):
    """What else is to be in it."""

    revisions: StrictBool = False


class ImportWanted(ImportOptions):
    """How to read the file, and its first (often its only) lines; ``complete: false`` when more lines follow."""

    text: Text
    complete: StrictBool = True


class MoreLines(StrictModel):
    """The next whole lines of the file."""

    text: Text
    complete: StrictBool = True


class RefusedLine(TypedDict):
    """A line that was not taken, and why."""

    line: int
    code: str
    detail: str


class ImportOut(TypedDict):
    """One import. ``found`` is what the check said of the lines, by kind; ``made`` what became of them."""

    id: UUID
    state: str
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


@router.post("/exports")
def export_vault(request: ApiRequest, body: ExportWanted) -> StreamingHttpResponse:
    """The whole vault as JSON lines, in plain text, streamed; audited. A header first, a checksum last."""
    lines = exporting.export_vault(request.access, with_revisions=body.revisions)
    return StreamingHttpResponse(lines, content_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})


@router.post("/imports", response={202: ImportOut})
def begin_import(request: ApiRequest, body: ImportWanted) -> HttpResponse:
    """Take in the lines of an export and check them in a job; `dry_run: false` goes on to import them."""
    options = ImportOptions(**body.model_dump(include=set(ImportOptions.model_fields)))
    found = imports.begin_import(request.access, options)
    return _staged(request, str(found.pk), body.text, body.complete)


@router.get("/imports", response=ImportList)
def list_imports(request: ApiRequest) -> HttpResponse:
    """The vault's newest imports."""
    return json_answer({"items": [import_out(found) for found in imports.list_imports(request.access)]})


@router.get("/imports/{import_id}", response=ImportOut)
def get_import(request: ApiRequest, import_id: str) -> HttpResponse:
    """One import: its state, what the check found, how far it is, what it made, which lines were refused."""
    return json_answer(import_out(imports.get_import(request.access, import_id)))


@router.post("/imports/{import_id}/lines", response={202: ImportOut})
def stage_lines(request: ApiRequest, import_id: str, body: MoreLines) -> HttpResponse:
    """More lines of a file that was begun with `complete: false`."""
    return _staged(request, import_id, body.text, body.complete)


@router.post("/imports/{import_id}/apply", response={202: ImportOut})
def apply_import(request: ApiRequest, import_id: str) -> HttpResponse:
    """Carry out an import that was checked as a dry run."""
    return json_answer(import_out(imports.apply_import(request.access, import_id)), status=202)


def _staged(request: ApiRequest, import_id: str, text: str, complete: bool) -> HttpResponse:
    found = imports.stage_lines(request.access, import_id, [text.encode()])
    if complete:
        found = imports.check_import(request.access, import_id)
    return json_answer(import_out(found), status=202)

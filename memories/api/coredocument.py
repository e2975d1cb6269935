"""The core document: what holds, its versions, what changed between them, and the way back (DEF-19, CON-19)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Path, Query, Router
from pydantic import with_config

from banks.access import KeyScope
from memories.api.markdown import MARKDOWN, markdown_answer, wants_markdown
from memories.api.requests import ApiRequest
from memories.rules.coretext import CoreLine
from memories.rules.tiermarkdown import Names, core_markdown
from memories.rules.tierqueries import DiffQuery, NoteQuery, RestoreRequest, Version, VersionsQuery
from memories.rules.vocabulary import ActorKind
from memories.search import coredocument as documents
from memories.search.coredocument import MadeVersion, ShownDocument
from memories.services import coredocument
from memories.services.coredocument import DocumentOutOfReach
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(shown({"text": "Alice prefers green tea.", "bank": "Personal"}))
class CoreLineOut(TypedDict):
    """A line and the memories it came from; ``agent_id`` where it is one agent's own."""

    text: str
    bank: str | None
    agent_id: str | None
    memory_ids: list[UUID]


@with_config(
    shown(
        {
            "namespace": ["default"],
            "version": 3,
            "newest": 3,
            "created_at": "2026-11-21T03:00:00Z",
            "markdown": "# Core document\n\n- Alice prefers green tea.\n",
        }
    )
)
class CoreDocumentOut(TypedDict):
    """A version of the document (0: the empty one before the first), and the number of the one that holds."""

    namespace: list[str]
    version: int
    newest: int
    created_at: dt.datetime | None
    lines: list[CoreLineOut]
    markdown: str


@with_config(shown({"version": 3, "actor_kind": "system", "actor_id": "memoryhub"}))
class CoreVersionOut(TypedDict):
    """A version: who made it, and which one it went back to, if any."""

    version: int
    restored_from: int | None
    actor_kind: Annotated[str, Word(ActorKind)]
    actor_id: str
    created_at: dt.datetime


@with_config(shown({"namespace": ["default"]}))
class CoreVersionList(TypedDict):
    """Newest first; ``next_before`` is what to send as ``before`` for the next page, null at the end."""

    namespace: list[str]
    items: list[CoreVersionOut]
    next_before: int | None


@with_config(shown({"before": "Alice drinks tea.", "after": "Alice prefers green tea."}))
class ChangedLineOut(TypedDict):
    """A line that came (no ``before``), went (no ``after``) or was put otherwise."""

    before: str | None
    after: str | None


@with_config(shown({"namespace": ["default"], "before": 2, "after": 3}))
class CoreDiffOut(TypedDict):
    """What differs between two versions."""

    namespace: list[str]
    before: int
    after: int
    changes: list[ChangedLineOut]


def _document_out(shown: ShownDocument) -> CoreDocumentOut:
    return {
        "namespace": shown.namespace,
        "version": shown.version,
        "newest": shown.newest,
        "created_at": shown.created_at,
        "lines": [_line_out(line, shown.names) for line in shown.lines],
        "markdown": core_markdown(shown.lines, shown.names),
    }


def _line_out(line: CoreLine, names: Names) -> CoreLineOut:
    return {
        "text": line.text,
        "bank": names.banks.get(str(line.audience.bank_id)),
        "agent_id": line.audience.agent_id,
        "memory_ids": list(line.memory_ids),
    }


@router.get(
    "/core-document",
    response=CoreDocumentOut,
    **told(
        "Read the core document",
        KeyScope.MEMORIES_READ,
        also={MARKDOWN: "# Core document\n\n- Alice prefers green tea.\n"},
    ),
)
def read_core_document(request: ApiRequest, wanted: Query[NoteQuery]) -> HttpResponse:
    """What the namespace holds on to; as Markdown with `Accept: text/markdown` or `?format=md`."""
    return _document(request, wanted, None)


@router.get(
    "/core-document/versions",
    response=CoreVersionList,
    **told("List versions of the core document", KeyScope.MEMORIES_READ),
)
def list_core_versions(request: ApiRequest, wanted: Query[VersionsQuery]) -> HttpResponse:
    """The versions there were, newest first."""
    rows = documents.list_core_versions(request.access, wanted.namespace, wanted.limit + 1, wanted.before)
    shown = rows[: wanted.limit]
    more = shown[-1].number if len(rows) > wanted.limit else None
    items = [_version_out(row) for row in shown]
    return json_answer({"namespace": wanted.namespace, "items": items, "next_before": more})


def _version_out(row: MadeVersion) -> CoreVersionOut:
    return {
        "version": row.number,
        "restored_from": row.restored_from,
        "actor_kind": row.actor_kind,
        "actor_id": row.actor_id,
        "created_at": row.created_at,
    }


@router.get(
    "/core-document/versions/{version}",
    response=CoreDocumentOut,
    **told(
        "Read a version of the core document",
        KeyScope.MEMORIES_READ,
        also={MARKDOWN: "# Core document\n\n- Alice prefers green tea.\n"},
    ),
)
def read_core_version(request: ApiRequest, version: Path[Version], wanted: Query[NoteQuery]) -> HttpResponse:
    """The document as it was; JSON or Markdown."""
    return _document(request, wanted, version)


def _document(request: ApiRequest, wanted: NoteQuery, version: int | None) -> HttpResponse:
    body = _document_out(documents.read_core_document(request.access, wanted.namespace, version))
    return markdown_answer(body["markdown"]) if wants_markdown(request, wanted.format) else json_answer(body)


@router.get(
    "/core-document/versions/{version}/diff",
    response=CoreDiffOut,
    **told("Compare two versions of the core document", KeyScope.MEMORIES_READ),
)
def compare_core_versions(request: ApiRequest, version: Path[Version], wanted: Query[DiffQuery]) -> HttpResponse:
    """What changed in a version since the one before it, or since another one (`against`)."""
    against = max(version - 1, 0) if wanted.against is None else wanted.against
    _, _, changes = documents.compare_core_versions(request.access, wanted.namespace, against, version)
    lines = [
        {"before": one.before.text if one.before else None, "after": one.after.text if one.after else None}
        for one in changes
    ]
    return json_answer({"namespace": wanted.namespace, "before": against, "after": version, "changes": lines})


@router.post(
    "/core-document/versions/{version}/restore",
    response=CoreDocumentOut,
    **told("Restore a version of the core document", KeyScope.MEMORIES_WRITE, DocumentOutOfReach),
)
def restore_core_version(
    request: ApiRequest,
    version: Path[Version],
    wanted: RestoreRequest = RestoreRequest(),  # noqa: B008
) -> HttpResponse:
    """Make a version what holds again, as a new one; 0 is the empty document."""
    return json_answer(_document_out(coredocument.restore_core_version(request.access, wanted.namespace, version)))

"""Dreams: ask for one, and read the diary (TIE-05…07)."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import with_config

from banks.access import KeyScope
from memories.api.markdown import MARKDOWN, markdown_answer, wants_markdown
from memories.api.requests import ApiRequest
from memories.models import Dream
from memories.rules.consolidation import What
from memories.rules.tiermarkdown import REASONS, diary_markdown
from memories.rules.tierqueries import DreamRequest, DreamsQuery, NoteQuery
from memories.rules.vocabulary import DreamState
from memories.search import dreams as diary
from memories.search.dreams import DreamLine
from memories.services import dreams
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(shown({"namespace": ["default"], "state": "waiting", "lookback_days": 3}))
class DreamOut(TypedDict):
    """One dream: ``state`` is waiting, done, unchanged, skipped or failed; ``reason`` says why nothing was changed.

    ``counts``: lines read, lines of the document afterwards, and lines added, changed, dropped and left out.
    """

    id: UUID
    namespace: list[str]
    state: Annotated[str, Word(DreamState)]
    reason: str
    lookback_days: int
    is_scheduled: bool
    by_model: bool
    counts: dict[str, int]
    version_before: int | None
    version_after: int | None
    job_id: UUID | None
    created_at: dt.datetime
    finished_at: dt.datetime | None


@with_config(shown({}))
class DreamList(TypedDict):
    """Newest first; ``next_before`` is what to send as ``before`` for the next page, null at the end."""

    items: list[DreamOut]
    next_before: UUID | None


@with_config(
    shown(
        {
            "what": "added",
            "text": "Alice prefers green tea.",
            "reason": "said_often",
            "why": "It was said on several days.",
        }
    )
)
class ChangeOut(TypedDict):
    """What became of a line (``what``: added, changed, dropped, left_out) and why, as a code and in words.

    ``said`` is a language model's own reason.
    """

    what: Annotated[str, Word(What)]
    text: str
    before: str
    reason: str
    why: str
    said: str
    memory_ids: list[UUID]


@with_config(
    shown(
        {
            "namespace": ["default"],
            "state": "done",
            "lookback_days": 3,
            "counts": {"added": 1},
            "version_before": 2,
            "version_after": 3,
            "finished_at": "2026-11-21T03:00:02Z",
            "markdown": "# Dream of 2026-11-21\n\n- added: Alice prefers green tea.\n",
        }
    )
)
class DiaryOut(DreamOut):
    """A dream with its entry in the diary."""

    changes: list[ChangeOut]
    markdown: str


def _dream_out(dream: Dream | DreamLine) -> DreamOut:
    return {
        "id": dream.id,
        "namespace": dream.namespace,
        "state": dream.state,
        "reason": dream.reason,
        "lookback_days": dream.lookback_days,
        "is_scheduled": dream.is_scheduled,
        "by_model": dream.by_model,
        "counts": dream.counts,
        "version_before": dream.version_before,
        "version_after": dream.version_after,
        "job_id": dream.job_id,
        "created_at": dream.created_at,
        "finished_at": dream.finished_at,
    }


@router.post("/dreams", response={202: DreamOut}, **told("Start a dream", KeyScope.SESSIONS))
def deep_dream(request: ApiRequest, wanted: DreamRequest = DreamRequest()) -> HttpResponse:  # noqa: B008
    """Consolidate a namespace's daily notes into its core document: 202 with the dream and the job that dreams it."""
    return json_answer(_dream_out(dreams.deep_dream(request.access, wanted.namespace, wanted.lookback_days)), 202)


@router.get("/dreams", response=DreamList, **told("List dreams", KeyScope.MEMORIES_READ, NotFound))
def list_dreams(request: ApiRequest, wanted: Query[DreamsQuery]) -> HttpResponse:
    """The dreams of a namespace, newest first."""
    before = parse_id(wanted.before) if wanted.before else None
    rows = diary.list_dreams(request.access, wanted.namespace, wanted.limit + 1, before)
    shown = rows[: wanted.limit]
    more = shown[-1].id if len(rows) > wanted.limit else None
    return json_answer({"items": [_dream_out(row) for row in shown], "next_before": more})


@router.get(
    "/dreams/{dream_id}",
    response=DiaryOut,
    **told(
        "Read a dream and its diary entry",
        KeyScope.MEMORIES_READ,
        also={MARKDOWN: "# Dream of 2026-11-21\n\n- added: Alice prefers green tea.\n"},
    ),
)
def get_dream(request: ApiRequest, dream_id: str, wanted: Query[NoteQuery]) -> HttpResponse:
    """One dream with what it did to each line and why; as Markdown with `Accept: text/markdown` or `?format=md`."""
    entry = diary.get_dream(request.access, dream_id)
    markdown = diary_markdown(entry.head, entry.changes)
    if wants_markdown(request, wanted.format):
        return markdown_answer(markdown)
    changes: list[ChangeOut] = [
        {
            "what": change.what.value,
            "text": change.text,
            "before": change.before,
            "reason": change.reason,
            "why": REASONS.get(change.reason, change.reason),
            "said": change.said,
            "memory_ids": list(change.memory_ids),
        }
        for change in entry.changes
    ]
    return json_answer({**_dream_out(entry.dream), "changes": changes, "markdown": markdown})

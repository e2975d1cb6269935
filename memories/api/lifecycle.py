"""Archive, review, supersede, restore (STA-05, API-09)."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Body, Path, Router
from pydantic import StrictBool

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memory_answer
from memories.api.versions import expected_version
from memories.api.written import WrittenOut, written_answer
from memories.rules.drafts import Label, MemoryDraft, Reason
from memories.rules.status import StatusMoveRefused
from memories.rules.vocabulary import Outcome, Status
from memories.services import editing, lifecycle, writing
from memories.services.contention import WriteContended
from memories.services.revising import DuplicateContent, VersionUnreadable
from memories.services.superseding import AlreadySuperseded, SupersedesItself, TrustTooLow
from memories.services.writing import WriteResult
from memoryhub.lib.openapi.shapes import Unparsed, shown
from memoryhub.lib.openapi.told import ETAG, IF_MATCH, LOCATION, told
from memoryhub.lib.strict import StrictModel

router = Router()

LAST_VERSION = 2**31 - 1


class Archival(StrictModel):
    """Whether the memory is to be archived, or with false to be brought back."""

    model_config = shown({"archived": True, "reason": "No longer True."})

    archived: StrictBool = True
    reason: Reason = ""


class Replacement(StrictModel):
    """An existing memory that takes the other's place."""

    model_config = shown({"by_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b23", "reason": "She moved."})

    by_id: Label
    reason: Reason = ""


class StatusChange(StrictModel):
    """Where a review puts it."""

    model_config = shown({"status": "accepted", "reason": "Checked with Alice."})

    status: Status
    reason: Reason = ""


@router.post(
    "/memories/{memory_id}/archive",
    response=MemoryOut,
    **told(
        "Archive a memory, or bring it back",
        KeyScope.MEMORIES_DELETE,
        DuplicateContent,
        AlreadySuperseded,
        headers=[IF_MATCH, ETAG],
    ),
)
def archive_memory(request: ApiRequest, memory_id: str, archival: Archival = Archival()) -> HttpResponse:  # noqa: B008
    """Hide it from recall, or bring it back with `archived: false`."""
    memory = lifecycle.archive_memory(
        request.access, memory_id, archival.archived, archival.reason, expected_version(request)
    )
    return memory_answer(request.access, memory)


@router.post(
    "/memories/{memory_id}/status",
    response=MemoryOut,
    **told(
        "Accept or discard a memory",
        KeyScope.MEMORIES_APPROVE,
        StatusMoveRefused,
        DuplicateContent,
        TrustTooLow,
        headers=[IF_MATCH, ETAG],
    ),
)
def change_status(request: ApiRequest, memory_id: str, change: StatusChange) -> HttpResponse:
    """Accept or discard: draft → accepted or discard, accepted → discard, nothing else."""
    memory = lifecycle.change_status(request.access, memory_id, change.status, change.reason, expected_version(request))
    return memory_answer(request.access, memory)


@router.post(
    "/memories/{memory_id}/supersede",
    response={201: WrittenOut, 200: WrittenOut},
    **told(
        "Replace a memory by a newer one",
        KeyScope.MEMORIES_WRITE,
        AlreadySuperseded,
        SupersedesItself,
        TrustTooLow,
        DuplicateContent,
        WriteContended,
        UnknownBank,
        headers=[ETAG, LOCATION],
    ),
)
def supersede_memory(
    request: ApiRequest, memory_id: str, body: Annotated[dict[str, Any], Unparsed(Replacement, MemoryDraft), Body()]
) -> HttpResponse:
    """Replace it: by an existing memory (`by_id`) or by a new one (`content`; labels it does not name stay)."""
    if "by_id" in body or "byId" in body:
        wanted = Replacement.parse(body)
        old, new = lifecycle.supersede_memory(request.access, memory_id, wanted.by_id, wanted.reason)
        reason = "It replaces the memory in the address."
        result = WriteResult(new, Outcome.SUPERSEDED, "supersedes", reason, superseded_id=old.pk)
        return written_answer(request.access, result, 200)
    result = writing.write_successor(request.access, memory_id, MemoryDraft.parse(body))
    return written_answer(request.access, result)


@router.post(
    "/memories/{memory_id}/restore/{version}",
    response=MemoryOut,
    **told(
        "Restore an earlier version of a memory",
        KeyScope.MEMORIES_WRITE,
        DuplicateContent,
        VersionUnreadable,
        headers=[IF_MATCH, ETAG],
    ),
)
def restore_version(
    request: ApiRequest,
    memory_id: str,
    version: Annotated[int, Path(ge=1, le=LAST_VERSION)],
) -> HttpResponse:
    """Put back what an earlier version held, as a new version."""
    memory = editing.restore_version(request.access, memory_id, version, expected_version(request))
    return memory_answer(request.access, memory)

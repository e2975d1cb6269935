"""Archive, review, supersede, restore (STA-05, API-09)."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Body, Path, Router
from pydantic import StrictBool

from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memory_answer
from memories.api.versions import expected_version
from memories.api.written import WrittenOut, written_answer
from memories.rules.drafts import Label, MemoryDraft, Reason
from memories.rules.vocabulary import Outcome, Status
from memories.services import editing, lifecycle, writing
from memories.services.writing import WriteResult
from memoryhub.lib.strict import StrictModel

router = Router()

LAST_VERSION = 2**31 - 1
SUCCESSOR_BODY = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        {
                            "type": "object",
                            "required": ["by_id"],
                            "properties": {"by_id": {"type": "string"}, "reason": {"type": "string"}},
                        },
                        {"$ref": "#/components/schemas/MemoryDraft"},
                    ]
                }
            }
        }
    }
}


class Archival(StrictModel):
    """Whether the memory is to be archived, or with false to be brought back."""

    archived: StrictBool = True
    reason: Reason = ""


class Replacement(StrictModel):
    """An existing memory that takes the other's place."""

    by_id: Label
    reason: Reason = ""


class StatusChange(StrictModel):
    """Where a review puts it."""

    status: Status
    reason: Reason = ""


@router.post("/memories/{memory_id}/archive", response=MemoryOut)
def archive_memory(request: ApiRequest, memory_id: str, archival: Archival = Archival()) -> HttpResponse:  # noqa: B008
    """Hide it from recall, or bring it back with `archived: false`."""
    memory = lifecycle.archive_memory(
        request.access, memory_id, archival.archived, archival.reason, expected_version(request)
    )
    return memory_answer(request.access, memory)


@router.post("/memories/{memory_id}/status", response=MemoryOut)
def change_status(request: ApiRequest, memory_id: str, change: StatusChange) -> HttpResponse:
    """Accept or discard: draft → accepted or discard, accepted → discard, nothing else."""
    memory = lifecycle.change_status(request.access, memory_id, change.status, change.reason, expected_version(request))
    return memory_answer(request.access, memory)


@router.post(
    "/memories/{memory_id}/supersede", response={201: WrittenOut, 200: WrittenOut}, openapi_extra=SUCCESSOR_BODY
)
def supersede_memory(request: ApiRequest, memory_id: str, body: Annotated[dict[str, Any], Body()]) -> HttpResponse:
    """Replace it: by an existing memory (`by_id`) or by a new one (`content`; labels it does not name stay)."""
    if "by_id" in body or "byId" in body:
        wanted = Replacement.parse(body)
        old, new = lifecycle.supersede_memory(request.access, memory_id, wanted.by_id, wanted.reason)
        reason = "It replaces the memory in the address."
        result = WriteResult(new, Outcome.SUPERSEDED, "supersedes", reason, superseded_id=old.pk)
        return written_answer(request.access, result, 200)
    result = writing.write_successor(request.access, memory_id, MemoryDraft.parse(body))
    return written_answer(request.access, result)


@router.post("/memories/{memory_id}/restore/{version}", response=MemoryOut)
def restore_version(
    request: ApiRequest,
    memory_id: str,
    version: Annotated[int, Path(ge=1, le=LAST_VERSION)],
) -> HttpResponse:
    """Put back what an earlier version held, as a new version."""
    memory = editing.restore_version(request.access, memory_id, version, expected_version(request))
    return memory_answer(request.access, memory)

"""Write, list, read, change and remove memories (API-05, API-08, API-09)."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Query, Router

from banks.access import KeyScope
from banks.services.banks import UnknownBank
from memories.api.erasures import ReceiptOut, receipt_out
from memories.api.pages import MemoryList, Page, list_answer
from memories.api.requests import ApiRequest
from memories.api.shapes import MemoryOut, memory_answer
from memories.api.versions import expected_version, is_known
from memories.api.written import (
    Batch,
    BatchOut,
    WrittenOut,
    batch_out,
    drafts_of,
    written_answer,
)
from memories.rules.drafts import MemoryChanges, MemoryDraft
from memories.rules.filters import MemoryFilter
from memories.rules.vocabulary import AccessPurpose
from memories.search import reading
from memories.search.asof import TooMuchChanged
from memories.services import editing, erasing, lifecycle, writing
from memories.services.accesses import record_accesses
from memories.services.contention import WriteContended
from memories.services.revising import DuplicateContent
from memories.services.superseding import AlreadySuperseded, TrustTooLow
from memoryhub.lib.answers import json_answer
from memoryhub.lib.errors import HubError, NotFound
from memoryhub.lib.openapi.told import ETAG, IF_MATCH, IF_NONE_MATCH, LINK, LOCATION, told

router = Router()


@router.post(
    "/memories",
    response={201: WrittenOut, 200: WrittenOut},
    **told(
        "Write a memory",
        KeyScope.MEMORIES_WRITE,
        NotFound,
        UnknownBank,
        AlreadySuperseded,
        TrustTooLow,
        WriteContended,
        headers=[ETAG, LOCATION],
    ),
)
def write_memory(request: ApiRequest, draft: MemoryDraft) -> HttpResponse:
    """Write one memory; 200 when it was there already (duplicate, idempotent) or was updated."""
    return written_answer(request.access, writing.write_memory(request.access, draft))


@router.post(
    "/memories/batch",
    response=BatchOut,
    **told("Write many memories", KeyScope.MEMORIES_WRITE),
)
def write_memories(request: ApiRequest, batch: Batch) -> HttpResponse:
    """Write up to 500; each item has its own outcome or problem, and items are compared with each other too."""
    parsed = drafts_of(batch.items)
    written = iter(writing.write_batch(request.access, [one for one in parsed if not isinstance(one, HubError)]))
    results = [one if isinstance(one, HubError) else next(written) for one in parsed]
    return json_answer(batch_out(request.access, request, results))


@router.get(
    "/memories",
    response=MemoryList,
    **told("List memories", KeyScope.MEMORIES_READ, UnknownBank, TooMuchChanged, headers=[LINK]),
)
def list_memories(request: ApiRequest, filters: Query[MemoryFilter], page: Query[Page]) -> HttpResponse:
    """One page; `q` is words and conditions (`bank:work -tag:tmp "exact phrase"`), mistakes come in the answer.

    Without filters: accepted, unarchived, unexpired and unsuperseded memories, newest first.
    """
    return list_answer(request, filters, page)


@router.get(
    "/memories/{memory_id}",
    response={200: MemoryOut, 304: None},
    **told("Read a memory", KeyScope.MEMORIES_READ, headers=[IF_NONE_MATCH, ETAG]),
)
def get_memory(request: ApiRequest, memory_id: str) -> HttpResponse:
    """One memory with its ETag; 304 when If-None-Match names this version."""
    memory = reading.get_memory(request.access, memory_id)
    if is_known(request, memory.etag):
        return HttpResponse(status=304, headers={"ETag": memory.etag})
    record_accesses(request.access, [memory.pk], AccessPurpose.READ)
    return memory_answer(request.access, memory)


@router.patch(
    "/memories/{memory_id}",
    response=MemoryOut,
    **told("Change a memory", KeyScope.MEMORIES_WRITE, UnknownBank, DuplicateContent, headers=[IF_MATCH, ETAG]),
)
def update_memory(request: ApiRequest, memory_id: str, changes: MemoryChanges) -> HttpResponse:
    """Change what is given; with If-Match a stale version is refused (412) and `current` names the present one."""
    memory = editing.update_memory(request.access, memory_id, changes, expected_version(request))
    return memory_answer(request.access, memory)


@router.delete(
    "/memories/{memory_id}",
    response={204: None, 200: ReceiptOut},
    **told("Archive or erase a memory", KeyScope.MEMORIES_DELETE, headers=[IF_MATCH]),
)
def delete_memory(request: ApiRequest, memory_id: str, erase: bool = False) -> HttpResponse:
    """Archive it (204); with `erase=true` remove it for good and get a receipt (200)."""
    version = expected_version(request)
    if erase:
        return json_answer(receipt_out(erasing.erase_memory(request.access, memory_id, version)))
    lifecycle.archive_memory(request.access, memory_id, archived=True, expected_version=version)
    return HttpResponse(status=204)

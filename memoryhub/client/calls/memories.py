"""Write, read, change and put away memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from memoryhub.client.answers import (
    Answer,
    BatchWritten,
    Context,
    Found,
    Listing,
    Memory,
    MemoryPage,
    ReadMemories,
    Written,
)
from memoryhub.client.fields import (
    ContextOptions,
    Id,
    MemoryChanges,
    MemoryDraft,
    MemoryFields,
    MemoryFilters,
    SearchOptions,
)
from memoryhub.client.request import Call, get, nothing, patch, post, said, segment


def write_memory(content: str, **fields: Unpack[MemoryFields]) -> Call[Written]:
    """Remember one thing; the answer says whether it was new, a duplicate, or replaced another."""
    return post("/memories", Written, {"content": content, **fields})


def write_memories(items: Sequence[MemoryDraft]) -> Call[BatchWritten]:
    """Remember up to 500; each has its own outcome or problem, and they are compared with each other too."""
    return post("/memories/batch", BatchWritten, {"items": list(items)})


def list_memories(**filters: Unpack[MemoryFilters]) -> Call[MemoryPage]:
    """One page, newest first; without filters what recall may find."""
    return get("/memories", MemoryPage, **filters)


def get_memory(memory_id: Id) -> Call[Memory]:
    """One memory, whatever its state."""
    return get(f"/memories/{segment(memory_id)}", Memory)


def read_memories(ids: Sequence[Id]) -> Call[ReadMemories]:
    """Full memories by id, in the order asked."""
    return post("/memories/read", ReadMemories, {"ids": [str(each) for each in ids]})


def update_memory(
    memory_id: Id, *, expected_version: int | None = None, **changes: Unpack[MemoryChanges]
) -> Call[Memory]:
    """Change what is given. Raises StaleVersion where it is not at the version expected."""
    call = patch(f"/memories/{segment(memory_id)}", Memory, dict(changes))
    return _at_version(call, expected_version)


def delete_memory(memory_id: Id, *, expected_version: int | None = None) -> Call[None]:
    """Archive it: recall does not find it any more, and it can come back."""
    return _at_version(Call("DELETE", f"/memories/{segment(memory_id)}", nothing), expected_version)


def erase_memory(memory_id: Id, *, expected_version: int | None = None) -> Call[Answer]:
    """Remove it for good, with every trace; the answer is the receipt."""
    path = f"/memories/{segment(memory_id)}"
    call = Call("DELETE", path, Answer.model_validate_json, query={"erase": True})
    return _at_version(call, expected_version)


def archive_memory(memory_id: Id, *, archived: bool = True, reason: str = "") -> Call[Memory]:
    """Hide it from recall, or bring it back with ``archived=False``."""
    return post(f"/memories/{segment(memory_id)}/archive", Memory, {"archived": archived, "reason": reason})


def change_status(memory_id: Id, status: str, *, reason: str = "") -> Call[Memory]:
    """Accept or discard: draft to accepted or discard, accepted to discard, nothing else."""
    return post(f"/memories/{segment(memory_id)}/status", Memory, {"status": status, "reason": reason})


def supersede_memory(
    memory_id: Id, content: str | None = None, *, by_id: Id | None = None, **fields: Unpack[MemoryFields]
) -> Call[Written]:
    """Replace it by a new memory, or by one that is there (``by_id``)."""
    body = {**said(content=content, by_id=by_id), **fields}
    return post(f"/memories/{segment(memory_id)}/supersede", Written, body)


def restore_version(memory_id: Id, version: int) -> Call[Memory]:
    """Put back an earlier version, as a new one."""
    return post(f"/memories/{segment(memory_id)}/restore/{version}", Memory)


def list_revisions(memory_id: Id) -> Call[Listing[Answer]]:
    """What it said before, change by change."""
    return get(f"/memories/{segment(memory_id)}/revisions", Listing[Answer])


def list_links(memory_id: Id) -> Call[Listing[Answer]]:
    """How it stands to others."""
    return get(f"/memories/{segment(memory_id)}/links", Listing[Answer])


def create_link(memory_id: Id, target_id: Id, relation: str = "related") -> Call[Answer]:
    """Say how it stands to another one."""
    body = {"target_id": str(target_id), "relation": relation}
    return post(f"/memories/{segment(memory_id)}/links", Answer, body)


def read_chain(memory_id: Id) -> Call[Listing[Memory]]:
    """What it replaced and what replaced it, oldest first."""
    return get(f"/memories/{segment(memory_id)}/chain", Listing[Memory])


def search_memories(query: str, **options: Unpack[SearchOptions]) -> Call[Found]:
    """Memories that answer a question, by meaning and by words, best first."""
    return post("/memories/search", Found, {"query": query, **options})


def explain_absence(query: str, id: Id, **options: Unpack[SearchOptions]) -> Call[Answer]:
    """At which stage a search lost a memory, and why."""
    return post("/memories/search/why-not", Answer, {"query": query, "id": str(id), **options})


def format_for_injection(
    query: str | None = None, max_tokens: int | None = None, **options: Unpack[ContextOptions]
) -> Call[Context]:
    """One text for a prompt within a budget of tokens; without a query, what is worth knowing anyway."""
    return post("/memories/context", Context, {**said(query=query, max_tokens=max_tokens), **options})


def _at_version[Answered](call: Call[Answered], version: int | None) -> Call[Answered]:
    headers = {} if version is None else {"If-Match": f'"v{version}"'}
    return Call(call.method, call.path, call.reads, call.query, call.body, headers)

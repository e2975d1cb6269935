"""The access log of one memory: who was given it, when, and for what question."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from banks.access import Access
from memories.models import Memory, MemoryAccess
from memories.search.reading import given
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text


@dataclass(frozen=True, slots=True)
class AccessPage:
    """Entries with their lookups loaded, newest first; the cursor is None at the end."""

    items: list[MemoryAccess]
    next_cursor: str | None


def list_accesses(
    access: Access, memory_id: Memory | str | UUID, limit: int = 50, cursor: str | None = None
) -> AccessPage:
    """A page of the log. Needs memories:read. Raises NotFound, CursorInvalid, CursorMismatch."""
    memory = given(access, memory_id)
    query = query_text(access.vault_id, access.actor.id, "accesses", memory.pk)
    rows = MemoryAccess.objects.filter(vault_id=access.vault_id, memory=memory).select_related("lookup")
    if cursor:
        rows = rows.filter(lookup_id__lt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.order_by("-lookup_id")[: limit + 1])
    items = found[:limit]
    more = len(found) > limit
    return AccessPage(items, encode_cursor([str(items[-1].lookup_id)], query) if more else None)


def question_of(access: Access, entry: MemoryAccess) -> str | None:
    """What was asked, if the caller may know it: a question can tell what lies where the caller may not look.

    Agents and keys limited to banks are told their own questions, everybody else all of them. None also when it was
    not kept. Raises DecryptionError, UnknownKey.
    """
    lookup = entry.lookup
    is_limited = access.agent is not None or access.bank_ids is not None
    is_own = lookup.actor_id == access.actor.id or (access.agent_id is not None and lookup.agent_id == access.agent_id)
    if is_limited and not is_own:
        return None
    question: str | None = lookup.query
    return question

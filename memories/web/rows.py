"""One memory as pages show it: its text if it can be opened, its state in words, what may be done with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from banks.access import KeyScope
from memories.rules.vocabulary import IndexState, Status
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import CryptoError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from banks.access import Access
    from banks.models import Bank
    from memories.models import Memory
    from memories.web.addresses import Address

TAGS_SHOWN = 4
#: The list's own query in the address of a memory, for the way back.
LIST = "list"
#: What the line under the text says already, unless it has a column of its own.
UNDER_THE_TEXT = ("bank", "type", "agent")


@dataclass(frozen=True, slots=True)
class State:
    """Where a memory stands: never by colour alone."""

    label: str
    icon: str
    tone: str = ""
    faded: bool = False


ACTIVE = State("Active", "circle-check", "ok")
INDEXING = State("Indexing", "loader-circle", "note")
NOT_INDEXED = State("Not indexed", "triangle-alert", "warn")
DRAFT = State("Draft", "file-pen", "warn")
ARCHIVED = State("Archived", "archive", faded=True)
REPLACED = State("Replaced", "replace", faded=True)
EXPIRED = State("Expired", "timer", faded=True)
DISCARDED = State("Discarded", "ban", faded=True)


def state_of(memory: Memory, at: dt.datetime | None = None) -> State:
    """The one thing to know about a memory's standing, the most decisive first."""
    if memory.status == Status.DISCARD:
        return DISCARDED
    if memory.superseded_by_id is not None:
        return REPLACED
    if memory.archived_at is not None:
        return ARCHIVED
    if memory.expires_at is not None and memory.expires_at <= (at or now()):
        return EXPIRED
    if memory.status == Status.DRAFT:
        return DRAFT
    return {IndexState.PENDING.value: INDEXING, IndexState.FAILED.value: NOT_INDEXED}.get(memory.index_state, ACTIVE)


def opened(memory: Memory) -> str | None:
    """The text, or None where it cannot be opened: one broken row must not take the page with it."""
    try:
        return str(memory.content)
    except CryptoError:
        return None


@dataclass(frozen=True, slots=True)
class Toggle:
    """A button on a line of the list, and the key that presses it."""

    url: str
    label: str
    icon: str
    key: str = "a"


def toggle_of(memory: Memory) -> Toggle | None:
    """None for what is discarded or replaced: neither comes back by a click."""
    if memory.status == Status.DISCARD or memory.superseded_by_id is not None:
        return None
    if memory.archived_at is None:
        return Toggle(reverse("archive_memory", args=[memory.pk]), "Archive", "archive")
    return Toggle(reverse("unarchive_memory", args=[memory.pk]), "Restore", "archive-restore")


def buttons_of(memory: Memory, access: Access) -> list[Toggle]:
    """What this person may do with it from the list: review drafts, archive and restore the rest."""
    if memory.status == Status.DRAFT and memory.archived_at is None:
        return _review(memory) if access.has(KeyScope.MEMORIES_APPROVE) else []
    toggle = toggle_of(memory)
    return [toggle] if toggle and access.has(KeyScope.MEMORIES_DELETE) else []


def _review(memory: Memory) -> list[Toggle]:
    return [
        Toggle(reverse("approve_memory", args=[memory.pk]), "Approve", "check", "y"),
        Toggle(reverse("discard_memory", args=[memory.pk]), "Discard", "ban", "r"),
    ]


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A line of the list."""

    id: UUID
    url: str
    text: str | None
    bank: Bank
    type: str
    agent: str
    tags: list[str]
    importance: int
    created_at: dt.datetime
    is_protected: bool
    superseded: bool
    state: State
    buttons: list[Toggle]
    #: The memory itself, for the columns somebody chose.
    memory: Memory
    columns: tuple[str, ...] = ()
    edit_url: str = ""

    @property
    def under(self) -> frozenset[str]:
        """What the line under the text says: what has no column of its own."""
        return frozenset(UNDER_THE_TEXT) - frozenset(self.columns)


@dataclass(frozen=True, slots=True)
class Shown:
    """How a list shows its rows: its columns, and its address, which the page of a memory leads back to."""

    columns: tuple[str, ...]
    address: Address


def rows_of(access: Access, memories: Iterable[Memory], agents: Mapping[str, str], shown: Shown) -> list[MemoryRow]:
    """The lines of the list."""
    here = shown.address.without("cursor").values
    told = f"?{urlencode({LIST: urlencode(here)})}" if here else ""
    may_edit = access.has(KeyScope.MEMORIES_WRITE)
    found = []
    for memory in memories:
        row = row_of(memory, agents, access)
        edit_url = reverse("edit_row", args=[memory.pk]) if may_edit and memory.status != Status.DISCARD else ""
        found.append(replace(row, url=row.url + told, columns=shown.columns, edit_url=edit_url))
    return found


def row_of(memory: Memory, agents: Mapping[str, str], access: Access | None = None) -> MemoryRow:
    """``agents`` names the agents by id; an id of somebody else's making is shown as it is. No access, no buttons."""
    return MemoryRow(
        id=memory.pk,
        url=reverse("memory", args=[memory.pk]),
        text=opened(memory),
        bank=memory.bank,
        type=memory.type,
        agent=agents.get(memory.agent_id or "", memory.agent_id or ""),
        tags=memory.tags[:TAGS_SHOWN],
        importance=memory.importance,
        created_at=memory.created_at,
        is_protected=memory.is_protected,
        superseded=memory.superseded_by_id is not None,
        state=state_of(memory),
        buttons=buttons_of(memory, access) if access else [],
        memory=memory,
    )

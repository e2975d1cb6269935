"""What the page of one memory shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from banks.services.banks import bank_names
from memories.rules.vocabulary import IndexState, Status
from memories.search.provenance import read_provenance
from memories.search.reading import list_revisions
from memories.search.surroundings import read_surroundings
from memories.web.accesslog import AccessLog, access_log_of, read_log
from memories.web.actors import people_of
from memories.web.changewords import spoken_reason
from memories.web.connections import Connections, connections_of
from memories.web.history import ChangeLine, history_of
from memories.web.origins import Origin, origin_of
from memories.web.rows import NOT_INDEXED, State, opened, state_of, toggle_of
from memories.web.versions import Versions, versions_of
from memories.web.walking import Walk, walk_of
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.ids import short_id

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from django.http import QueryDict

    from banks.access import Access
    from memories.models import Memory
    from memories.web.editing import EditConflict
    from memories.web.forms import EditForm

LONG_TEXT = 600
#: What the hub writes where nobody said why.
_NO_REASON = {"superseded", "supersede_memory", "merge_pair"}
INDEX = {
    IndexState.READY.value: State("Found by words and meaning", "circle-check", "ok"),
    IndexState.PENDING.value: State("By words; meaning is being indexed", "loader-circle", "note"),
    IndexState.FAILED.value: State("By words; indexing the meaning failed", NOT_INDEXED.icon, "warn"),
    IndexState.OFF.value: State("Found by words", "circle-check", "ok"),
}


@dataclass(frozen=True, slots=True)
class Action:
    """One button under the text."""

    url: str
    label: str
    icon: str
    hint: str
    key: str = ""
    primary: bool = False
    danger: bool = False


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One memory in a chain of supersessions, and why the next one took its place."""

    url: str
    text: str | None
    created_at: dt.datetime
    ended_at: dt.datetime | None
    reason: str
    is_head: bool
    is_this: bool
    #: Takes it out of the chain again, where that may be done.
    undo_url: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence above the text."""

    text: str
    icon: str
    tone: str = ""
    url: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Everything memories/memory.html draws."""

    memory: Memory
    text: str | None
    state: State
    index: State
    origin: Origin
    history: list[ChangeLine]
    versions: Versions
    chain: list[ChainLink]
    connections: Connections
    accesses: AccessLog
    notices: list[Notice]
    actions: list[Action]
    may_edit: bool
    may_erase: bool
    extra: str
    besides: Walk
    #: Where it could be moved: id and name.
    banks: list[tuple[str, str]]
    form: EditForm | None = None
    conflict: EditConflict | None = None

    @property
    def short_id(self) -> str:
        """The name of the page."""
        return short_id(self.memory.pk)

    @property
    def is_long(self) -> bool:
        """Long texts are set smaller."""
        return len(self.text or "") > LONG_TEXT

    @property
    def valid_from(self) -> dt.datetime:
        """Since when it holds: from when it happened or was said, or else from when it was stored."""
        return self.memory.event_at or self.origin.said_at or self.memory.created_at

    @property
    def valid_until(self) -> dt.datetime | None:
        """When it stopped to hold, or will: archived, replaced or expired."""
        ends = [moment for moment in (self.memory.archived_at, self.memory.expires_at) if moment]
        return min(ends, default=None)


@dataclass(frozen=True, slots=True)
class Editing:
    """The form in place of the text, and a conflict if there was one."""

    form: EditForm | None = None
    conflict: EditConflict | None = None


def memory_page(access: Access, memory: Memory, query: QueryDict, editing: Editing | None = None) -> MemoryPage:
    """The page of a memory the caller has read; ``query`` says which list it is from and what is compared.

    Each part opens its own texts: one that is broken says so and leaves the others alone.
    """
    editing, banks = editing or Editing(), bank_names(access)
    revisions, log = list_revisions(access, memory), read_log(access, memory, query.get("before", ""))
    around, made = read_surroundings(access, memory), read_provenance(access, memory)
    acted = {(revision.actor_kind, revision.actor_id) for revision in revisions} | log.actors
    people = people_of(access, acted | ({made.actor} if made.actor else set()))
    return MemoryPage(
        memory=memory,
        text=opened(memory),
        state=state_of(memory),
        index=INDEX[memory.index_state],
        origin=origin_of(memory, made, people),
        history=history_of(memory, revisions, people, banks),
        versions=versions_of(memory, revisions, query, banks),
        chain=chain_of(access, memory, around.chain),
        connections=connections_of(access, memory, around.ties),
        accesses=access_log_of(access, memory, log, people),
        notices=notices_of(memory),
        actions=actions_of(access, memory),
        may_edit=access.has(KeyScope.MEMORIES_WRITE) and memory.status != Status.DISCARD,
        may_erase=access.has(KeyScope.MEMORIES_ERASE),
        extra=json.dumps(memory.extra, ensure_ascii=False, indent=2) if memory.extra else "",
        besides=walk_of(access, memory, query),
        banks=sorted(banks.items(), key=lambda bank: bank[1]),
        form=editing.form,
        conflict=editing.conflict,
    )


def chain_of(access: Access, memory: Memory, chain: Sequence[Memory]) -> list[ChainLink]:
    """The memories this one replaced or was replaced by, oldest first; empty when it stands alone."""
    may_undo = access.has(KeyScope.MEMORIES_WRITE)
    return [_chain_link(each, memory, may_undo=may_undo) for each in chain] if len(chain) > 1 else []


def _chain_link(each: Memory, memory: Memory, *, may_undo: bool) -> ChainLink:
    is_replaced = each.superseded_by_id is not None
    try:
        reason = each.archived_reason or "" if is_replaced else ""
    except CryptoError:
        reason = ""
    return ChainLink(
        url=reverse("memory", args=[each.pk]),
        text=opened(each),
        created_at=each.created_at,
        ended_at=each.archived_at if is_replaced else None,
        reason="" if reason in _NO_REASON else spoken_reason(reason),
        is_head=not is_replaced and each.archived_at is None,
        is_this=each.pk == memory.pk,
        undo_url=reverse("unarchive_memory", args=[each.pk]) if is_replaced and may_undo else "",
    )


def notices_of(memory: Memory) -> list[Notice]:
    """What a reader must know before believing the text."""
    notices = []
    if memory.superseded_by_id is not None:
        url = reverse("memory", args=[memory.superseded_by_id])
        notices.append(Notice("A newer memory replaced this one.", "replace", "", url, "Open the newer one"))
    elif memory.archived_at is not None:
        notices.append(Notice("Archived: agents do not recall it. It can be restored at any time.", "archive"))
    if memory.status == Status.DRAFT:
        notices.append(Notice("A draft: agents do not recall it until a person approves it.", "file-pen", "warn"))
    if memory.status == Status.DISCARD:
        notices.append(Notice("Discarded in review. It is kept for the record only.", "ban"))
    return notices


def actions_of(access: Access, memory: Memory) -> list[Action]:
    """What this person may do with it now."""
    found = []
    if memory.status == Status.DRAFT and access.has(KeyScope.MEMORIES_APPROVE):
        found += [
            Action(_to("approve_memory", memory), "Approve", "check", "Let agents recall it", "y", primary=True),
            Action(
                _to("discard_memory", memory), "Discard", "ban", "Reject it; it stays in the record", "r", danger=True
            ),
        ]
    toggle = toggle_of(memory)
    if toggle and access.has(KeyScope.MEMORIES_DELETE if toggle.icon == "archive" else KeyScope.MEMORIES_WRITE):
        found.append(Action(toggle.url, toggle.label, toggle.icon, "Can be undone", key="a"))
    if access.has(KeyScope.MEMORIES_WRITE) and memory.status != Status.DISCARD:
        found.append(_protection(memory))
    return found


def _protection(memory: Memory) -> Action:
    if memory.is_protected:
        return Action(_to("unprotect_memory", memory), "Unprotect", "shield-off", "Clean-up may archive it again")
    return Action(_to("protect_memory", memory), "Protect", "shield", "Clean-up and duplicates leave it alone")


def _to(name: str, memory: Memory) -> str:
    return reverse(name, args=[memory.pk])

"""What the page of one memory shows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from banks.services.banks import list_banks
from memories.rules.vocabulary import IndexState, Status
from memories.search.reading import list_links, list_revisions, read_chain
from memories.web.accesslog import AccessLog, access_log_of
from memories.web.actors import agent_names
from memories.web.history import ChangeLine, Label, history_of
from memories.web.rows import NOT_INDEXED, State, opened, state_of, toggle_of
from memoryhub.lib.ids import short_id

if TYPE_CHECKING:
    import datetime as dt

    from banks.access import Access
    from memories.models import Memory
    from memories.web.forms import EditForm
    from memories.web.worddiff import Piece

LONG_TEXT = 600
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
    """One memory in a chain of supersessions."""

    url: str
    text: str | None
    created_at: dt.datetime
    is_head: bool
    is_this: bool


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A memory this one is linked to, and how."""

    relation: str
    url: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence above the text."""

    text: str
    icon: str
    tone: str = ""
    url: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class EditConflict:
    """What somebody else saved in the meantime, against what was typed here."""

    pieces: list[Piece]
    labels: list[Label]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Everything memories/memory.html draws."""

    memory: Memory
    text: str | None
    state: State
    index: State
    agent: str
    author: str
    history: list[ChangeLine]
    chain: list[ChainLink]
    links: list[LinkLine]
    accesses: AccessLog
    notices: list[Notice]
    actions: list[Action]
    may_edit: bool
    may_erase: bool
    extra: str
    short_id: str
    back_url: str
    form: EditForm | None = None
    conflict: EditConflict | None = None

    @property
    def is_long(self) -> bool:
        """Long texts are set smaller."""
        return len(self.text or "") > LONG_TEXT


@dataclass(frozen=True, slots=True)
class Editing:
    """The form in place of the text, and a conflict if there was one."""

    form: EditForm | None = None
    conflict: EditConflict | None = None


def memory_page(access: Access, memory: Memory, editing: Editing | None = None, before: str = "") -> MemoryPage:
    """The page of a memory the caller has read; ``before`` is where its access log begins."""
    banks = {str(bank.pk): bank.name for bank in list_banks(access, include_hidden=True)}
    editing = editing or Editing()
    agent = agent_names(access).get(memory.agent_id or "", memory.agent_id or "")
    return MemoryPage(
        memory=memory,
        text=opened(memory),
        state=state_of(memory),
        index=INDEX[memory.index_state],
        agent=agent,
        author=agent,
        history=history_of(access, memory, list_revisions(access, memory.pk), banks),
        chain=chain_of(access, memory),
        links=links_of(access, memory),
        accesses=access_log_of(access, memory, before),
        notices=notices_of(memory),
        actions=actions_of(access, memory),
        may_edit=access.has(KeyScope.MEMORIES_WRITE) and memory.status != Status.DISCARD,
        may_erase=access.has(KeyScope.MEMORIES_ERASE),
        extra=json.dumps(memory.extra, ensure_ascii=False, indent=2) if memory.extra else "",
        short_id=short_id(memory.pk),
        back_url=reverse("memories"),
        form=editing.form,
        conflict=editing.conflict,
    )


def chain_of(access: Access, memory: Memory) -> list[ChainLink]:
    """The memories this one replaced or was replaced by, oldest first; empty when it stands alone."""
    chain = read_chain(access, memory.pk)
    if len(chain) < 2:
        return []
    return [
        ChainLink(
            url=reverse("memory", args=[each.pk]),
            text=opened(each),
            created_at=each.created_at,
            is_head=each.superseded_by_id is None and each.archived_at is None,
            is_this=each.pk == memory.pk,
        )
        for each in chain
    ]


OUTWARD = {
    "supersedes": "Replaces",
    "refines": "Refines",
    "derived_from": "Derived from",
    "supports": "Supports",
    "contradicts": "Contradicts",
    "related": "Related to",
}
INWARD = {
    "supersedes": "Replaced by",
    "refines": "Refined by",
    "derived_from": "Source of",
    "supports": "Supported by",
    "contradicts": "Contradicted by",
    "related": "Related to",
}


def links_of(access: Access, memory: Memory) -> list[LinkLine]:
    """The other ends of this memory's links."""
    lines = []
    for link in list_links(access, memory.pk):
        outward = link.source_id == memory.pk
        other = link.target if outward else link.source
        relation = (OUTWARD if outward else INWARD)[link.relation]
        lines.append(LinkLine(relation, reverse("memory", args=[other.pk]), opened(other)))
    return lines


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

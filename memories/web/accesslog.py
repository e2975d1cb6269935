"""The access log of one memory as people read it: who was given it, when, and for what question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.http import urlencode

from memories.rules.vocabulary import AccessPurpose
from memories.search.accesses import AccessPage, list_accesses, question_of
from memories.web.actors import agent_names, names_of
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    import datetime as dt

    from banks.access import Access
    from memories.models import Lookup, Memory, MemoryAccess

SHOWN = 10
WHAT = {
    AccessPurpose.SEARCH.value: "A search",
    AccessPurpose.CONTEXT.value: "The context of an agent",
    AccessPurpose.READ.value: "Read by its id",
}


@dataclass(frozen=True, slots=True)
class AccessLine:
    """One time it was given out; without a question there was none, or it may not be known."""

    what: str
    question: str
    who: str
    rank: int | None
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class AccessLog:
    """A page of the log; ``older_url`` is empty at its end."""

    lines: list[AccessLine]
    older_url: str
    is_older: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever noted, or nothing is kept."""
        return not self.lines and not self.is_older


def access_log_of(access: Access, memory: Memory, before: str = "") -> AccessLog:
    """The newest entries, or those from the cursor ``before`` on; one that means nothing is as good as none."""
    page, is_older = _page(access, memory, before)
    who = names_of(access, {(entry.lookup.actor_kind, entry.lookup.actor_id) for entry in page.items})
    agents = agent_names(access) if page.items else {}

    def named(lookup: Lookup) -> str:
        return agents.get(lookup.agent_id or "") or who((lookup.actor_kind, lookup.actor_id))

    lines = [
        AccessLine(
            what=WHAT[entry.lookup.purpose],
            question=_question(access, entry),
            who=named(entry.lookup),
            rank=entry.rank,
            at=entry.lookup.at,
        )
        for entry in page.items
    ]
    return AccessLog(lines, _older_url(memory, page.next_cursor) if page.next_cursor else "", is_older)


def _older_url(memory: Memory, cursor: str) -> str:
    return f"{reverse('memory', args=[memory.pk])}?{urlencode({'before': cursor})}#accesses"


def _page(access: Access, memory: Memory, before: str) -> tuple[AccessPage, bool]:
    try:
        return list_accesses(access, memory.pk, SHOWN, before or None), bool(before)
    except (CursorInvalid, CursorMismatch):
        return list_accesses(access, memory.pk, SHOWN), False


def _question(access: Access, entry: MemoryAccess) -> str:
    try:
        return question_of(access, entry) or ""
    except CryptoError:
        return ""

"""The access log of one memory as people read it: who was given it, when, and for what question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.http import urlencode

from banks.services.names import AGENT
from memories.rules.vocabulary import AccessPurpose
from memories.search.accesses import AccessPage, list_accesses, question_of
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.pagination import CursorInvalid, CursorMismatch

if TYPE_CHECKING:
    import datetime as dt

    from banks.access import Access
    from banks.services.names import Actor
    from memories.models import Lookup, Memory, MemoryAccess
    from memories.web.actors import People

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


def access_log_of(access: Access, memory: Memory, read: ReadLog, people: People) -> AccessLog:
    """The entries in words."""
    lines = [
        AccessLine(
            what=WHAT[entry.lookup.purpose],
            question=_question(access, entry),
            who=_named(entry.lookup, people),
            rank=entry.rank,
            at=entry.lookup.at,
        )
        for entry in read.page.items
    ]
    older = _older_url(memory, read.page.next_cursor) if read.page.next_cursor else ""
    return AccessLog(lines, older, read.is_older)


def _named(lookup: Lookup, people: People) -> str:
    agent = people.names.get((AGENT, lookup.agent_id or ""))
    return agent or people.actor((lookup.actor_kind, lookup.actor_id))


def _older_url(memory: Memory, cursor: str) -> str:
    return f"{reverse('memory', args=[memory.pk])}?{urlencode({'before': cursor})}#accesses"


@dataclass(frozen=True, slots=True)
class ReadLog:
    """A page of entries, and whether newer ones come before it."""

    page: AccessPage
    is_older: bool

    @property
    def actors(self) -> set[Actor]:
        """Everybody in it."""
        return {(entry.lookup.actor_kind, entry.lookup.actor_id) for entry in self.page.items}


def read_log(access: Access, memory: Memory, before: str = "") -> ReadLog:
    """The newest entries, or those from the cursor ``before`` on; one that means nothing is as good as none."""
    try:
        return ReadLog(list_accesses(access, memory, SHOWN, before or None), bool(before))
    except (CursorInvalid, CursorMismatch):
        return ReadLog(list_accesses(access, memory, SHOWN), is_older=False)


def _question(access: Access, entry: MemoryAccess) -> str:
    try:
        return question_of(access, entry) or ""
    except CryptoError:
        return ""

"""Read conversations: which there are, their turns, and the window of turns a model should see (STM)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from banks.access import Access, KeyScope
from memories.models import Message, Session
from memories.models.effective import effective_settings
from memories.models.session import SessionQuerySet
from memories.rules.limits import WINDOW_MESSAGES_MAX
from memories.rules.messages import WindowQuery
from memories.rules.vocabulary import Role, WindowScope
from memories.rules.windowing import Item, WindowLimits, window
from memoryhub.lib.errors import NotFound
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text

_AS_CONFIGURED = WindowQuery()
# Everything windowing looks at; contents are fetched only for what is shown.
_SHAPE = ("pk", "role", "tokens", "tool_calls", "tool_call_id", "is_silent", "vault_id")


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Whose conversations; None means anybody's."""

    user_id: str | None = None
    agent_id: str | None = None
    task_id: str | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Conversations, the last active first; the cursor is None at the end."""

    items: list[Session]
    next_cursor: str | None
    total: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A message in a window; ``stripped`` when its tool calls are left out because results are missing."""

    message: Message
    stripped: bool


@dataclass(frozen=True, slots=True)
class Window:
    """The turns to show in order, their tokens (an estimate), and how many of those there are were left out."""

    session: Session
    shown: list[Shown]
    tokens: int
    left_out: int


def list_sessions(
    access: Access, wanted: SessionFilter = SessionFilter(), limit: int = 50, cursor: str | None = None
) -> SessionPage:
    """A page of conversations. Needs sessions. Raises CursorInvalid, CursorMismatch."""
    access.require(KeyScope.SESSIONS)
    given = {name: value for name in SessionFilter.__slots__ if (value := getattr(wanted, name)) is not None}
    query = query_text("sessions", access.vault_id, access.actor.id, given)
    rows = Session.objects.visible_to(access).filter(last_message_at__isnull=False, **given)
    page = rows
    if cursor:
        at, last = decode_cursor(cursor, query).position
        before = dt.datetime.fromisoformat(str(at))
        page = rows.filter(Q(last_message_at__lt=before) | Q(last_message_at=before, pk__lt=UUID(str(last))))
    found = list(page.order_by("-last_message_at", "-pk")[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    return SessionPage(found, encode_cursor(_edge(found[-1]), query) if more else None, rows.count())


def _edge(session: Session) -> list[str]:
    return [str(session.last_message_at), str(session.pk)]


def get_session(access: Access, sid: str | UUID) -> Session:
    """The conversation its callers know as ``sid``, or by the hub's own id. Needs sessions. Raises NotFound."""
    access.require(KeyScope.SESSIONS)
    return find_session(access, sid)


def find_session(access: Access, sid: str | UUID) -> Session:
    """The same for whoever has checked what it needs. Raises NotFound."""
    rows = Session.objects.visible_to(access)
    if isinstance(sid, UUID):
        found = rows.filter(pk=sid).first()
    else:
        # The shared conversation of that name before one that is private to an isolated agent.
        named = rows.filter(sid=sid).order_by(F("private_to").asc(nulls_first=True))
        found = named.first() if sid.isprintable() else None
    if found is None:
        raise NotFound("There is no such session in this vault.")
    return found


def list_messages(access: Access, session: Session, before: int | None = None, limit: int = 100) -> list[Message]:
    """The newest messages, or those before number ``before``; oldest first. Needs sessions."""
    access.require(KeyScope.SESSIONS)
    rows = Message.objects.filter(vault_id=access.vault_id, session_id=session.pk)
    if before is not None:
        rows = rows.filter(number__lt=before)
    return list(rows.order_by("-number")[:limit])[::-1]


def read_window(access: Access, sid: str | UUID | Session, wanted: WindowQuery = _AS_CONFIGURED) -> Window:
    """The turns a model should see now: the last rounds within a token budget (STM-02 … STM-11). Needs sessions.

    Of the conversation with this name or id, or as it was read. At most the newest 2,000 messages take part, beside
    every system message. Raises NotFound.
    """
    session = sid if isinstance(sid, Session) else get_session(access, sid)
    said = effective_settings(access)
    scope = wanted.scope or WindowScope(said["session_scope"].value)
    limits = WindowLimits(wanted.max_rounds or said["session_max_rounds"].value, wanted.max_tokens, wanted.limit)
    rows = Message.objects.filter(vault_id=access.vault_id, session_id__in=_covered(access, session, scope))
    # One conversation has an order of its own; several are told apart by when something was said.
    order = ("number",) if scope is WindowScope.SESSION else ("created_at", "number")
    newest = rows.exclude(role=Role.SYSTEM).order_by(*(f"-{name}" for name in order)).only(*_SHAPE, *order)
    system = rows.filter(role=Role.SYSTEM).only(*_SHAPE, *order)
    shapes = sorted([*newest[:WINDOW_MESSAGES_MAX], *system], key=attrgetter(*order))
    kept = window([item_of(row) for row in shapes], limits)
    full = Message.objects.in_bulk([shapes[one.place].pk for one in kept])
    shown = [Shown(full[shapes[one.place].pk], one.stripped) for one in kept]
    tokens = sum(one.message.tokens for one in shown)
    # Only what was cut off above has to be counted by itself.
    total = len(shapes) if len(shapes) < WINDOW_MESSAGES_MAX else rows.count()
    return Window(session, shown, tokens, total - len(shown))


def _covered(access: Access, session: Session, scope: WindowScope) -> SessionQuerySet:
    """The conversations a window of this scope covers; without the label that scope goes by, this one alone."""
    rows = Session.objects.visible_to(access).filter(namespace=session.namespace)
    label = {WindowScope.USER: "user_id", WindowScope.TASK: "task_id"}.get(scope)
    value = label and getattr(session, label)
    own: dict[str, Any] = {label: value} if label and value else {"pk": session.pk}
    return rows.filter(**own).values("pk")  # type: ignore[return-value]


def item_of(row: Message) -> Item:
    """A message as windowing sees it; opens nothing but its tool calls."""
    calls = tuple(call["id"] for call in row.tool_calls or ())
    return Item(Role(row.role), row.tokens, calls, row.tool_call_id, speaks=not row.is_silent)


def items_of(rows: Sequence[Message]) -> list[Item]:
    """The same for several."""
    return [item_of(row) for row in rows]

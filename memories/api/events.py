"""What happened: a stream that can be read from any place it still reaches."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, TypedDict

from django.http import HttpResponse
from ninja import Router
from pydantic import Field, with_config

from banks.access import KeyScope
from memories.api.requests import ApiRequest
from memories.events import EventType
from memories.rules.vocabulary import ActorKind
from memories.search.events import EventPage, EventQuery, EventsGone, Heard
from memories.search.listening import await_events
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.shapes import Word, shown
from memoryhub.lib.openapi.told import told

router = Router()


@with_config(shown({"kind": "key", "id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b19"}))
class EventActorOut(TypedDict):
    """Who did it: a key or a user by id, or the hub itself (``system``)."""

    kind: Annotated[str, Word(ActorKind)]
    id: str


@with_config(
    shown(
        {
            "id": "41207",
            "type": "memory.added",
            "request_id": "5f6d0c1e9a3b4c7d",
            "data": {"memory_id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17", "version": 1},
        }
    )
)
class EventOut(TypedDict):
    """One event. ``data`` holds ids and numbers, never content."""

    id: str
    type: Annotated[str, Word(EventType)]
    timestamp: dt.datetime
    actor: EventActorOut
    request_id: str
    data: dict[str, Any]


@with_config(shown({"next": "41207"}))
class EventList(TypedDict):
    """Oldest first. Go on with ``after`` = ``next``; ``more`` says that there is something to read already."""

    items: list[EventOut]
    next: str
    more: bool


def event_out(heard: Heard) -> EventOut:
    """One event."""
    return {
        "id": str(heard.id),
        "type": heard.type,
        "timestamp": heard.at,
        "actor": {"kind": heard.actor.kind, "id": heard.actor.id},
        "request_id": heard.request_id,
        "data": dict(heard.data),
    }


def _events_out(page: EventPage) -> EventList:
    return {"items": [event_out(one) for one in page.items], "next": str(page.next), "more": page.more}


@router.get("/events", response=EventList, **told("Listen to events", KeyScope.MEMORIES_READ, EventsGone))
def list_events(
    request: ApiRequest,
    after: Annotated[str | None, Field(pattern=r"^(now|[0-9]{1,18})$")] = None,
    types: Annotated[str | None, Field(max_length=1_000)] = None,
    wait: Annotated[float, Field(ge=0, le=20, allow_inf_nan=False)] = 0,
    limit: Annotated[int, Field(ge=1, le=500)] = 100,
) -> HttpResponse:
    """What happened after ``after``, oldest first; ``types`` is a list such as ``memory.added,job.*``.

    Without ``after`` from the oldest event that is kept; ``after=now`` only says where the stream stands. With ``wait``
    the answer comes with the next event, after so many seconds at most; when too many callers wait already, at once.
    """
    names = tuple(one.strip() for one in types.split(",")) if types is not None else ()
    return json_answer(_events_out(await_events(request.access, EventQuery(after, names, limit), wait)))

"""What a change to a memory is called, which of several names fits best, and what a list of names means (CON-27)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from memories.events import EventType

_GOING_BACK = frozenset({"undo_changeset", "restore_version", "restore_memory"})


def name_of_change(action: str, changed: Mapping[str, Any]) -> EventType:
    """The one name of a change; ``changed`` holds only what really changed, with its new values.

    A change of several kinds is called by the one a listener must not miss: replaced before archived before the rest.
    """
    if changed.get("superseded_by_id") is not None:
        return EventType.MEMORY_SUPERSEDED
    if "archived_at" in changed:
        return EventType.MEMORY_RESTORED if changed["archived_at"] is None else EventType.MEMORY_ARCHIVED
    if "status" in changed:
        return EventType.MEMORY_STATUS_CHANGED
    return EventType.MEMORY_RESTORED if action in _GOING_BACK else EventType.MEMORY_UPDATED


def named(wanted: Iterable[str]) -> tuple[frozenset[EventType], list[str]]:
    """The types meant by names such as ``memory.added`` or ``memory.*``, and the names nothing is called by."""
    found: set[EventType] = set()
    unknown = []
    for name in wanted:
        mine = {one for one in EventType if one == name or (name.endswith(".*") and one.startswith(name[:-1]))}
        found |= mine
        if not mine:
            unknown.append(name)
    return frozenset(found), unknown


def family(one: str) -> str:
    """The part before the dot."""
    return one.partition(".")[0]


def families(types: Collection[str]) -> frozenset[str]:
    """The families that some types are of."""
    return frozenset(map(family, types))

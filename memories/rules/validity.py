"""Whether a memory, as a revision kept it, passed a filter at an earlier moment. Pure.

A revision is sealed, so the database cannot filter by it; these are the same conditions as ``search/filtering.py``
makes in SQL, for the filters whose labels can change. A test holds the two together.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any

from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.vocabulary import Trust

type State = Mapping[str, Any]
type Passes = Callable[[MemoryFilter, State], bool]


def _any_of(name: str) -> Passes:
    def passes(wanted: MemoryFilter, then: State) -> bool:
        values = getattr(wanted, name)
        return not values or then[name] in values

    return passes


def _all_of(label: str, name: str) -> Passes:
    return lambda wanted, then: set(getattr(wanted, name)) <= set(then[label])


def _exactly(name: str) -> Passes:
    def passes(wanted: MemoryFilter, then: State) -> bool:
        value = getattr(wanted, name)
        return value is None or then[name] == value

    return passes


def _archived(wanted: MemoryFilter, then: State) -> bool:
    if wanted.archived == Presence.ANY:
        return True
    if wanted.archived == Presence.TRUE:
        return then["archived_at"] is not None
    return then["archived_at"] is None and then["superseded_by_id"] is None and not _has_expired(wanted, then)


def _has_expired(wanted: MemoryFilter, then: State) -> bool:
    expires = then["expires_at"]
    return expires is not None and wanted.as_of is not None and dt.datetime.fromisoformat(expires) <= wanted.as_of


def _trusted(wanted: MemoryFilter, then: State) -> bool:
    return wanted.min_trust is None or Trust(then["trust"]).rank >= wanted.min_trust.rank


#: Filter → whether a state passed it. A bank is looked up elsewhere; what never changes needs no entry.
PASSES: Mapping[str, Passes] = {
    "type": _any_of("type"),
    "category": _any_of("category"),
    "role": _any_of("role"),
    "status": lambda wanted, then: wanted.status == StatusFilter.ANY or then["status"] == wanted.status.value,
    "archived": _archived,
    "user_id": _any_of("user_id"),
    "session_id": _any_of("session_id"),
    "task_id": _any_of("task_id"),
    "tag": _all_of("tags", "tag"),
    "entity": _all_of("entities", "entity"),
    "min_importance": lambda wanted, then: then["importance"] >= wanted.min_importance,
    "min_trust": _trusted,
    "is_protected": _exactly("is_protected"),
    "fact_key": _exactly("fact_key"),
}

"""What a reader finds in another program's file, before it is a line of an import."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memories.rules.drafts import EARLIEST, LATEST
from memories.rules.vocabulary import Relation


@dataclass(frozen=True, slots=True)
class Foreign:
    """One memory: the id it has there, what it says in the hub's words, and the fields that was taken from."""

    key: str
    values: Mapping[str, Any]
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """One record that becomes no memory, and why; ``detail`` never quotes it. Not ``wanted``: left out on purpose."""

    code: str
    detail: str
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Tie:
    """Two memories, by their ids there, and how the first stands to the second."""

    source: str
    target: str
    relation: Relation = Relation.RELATED
    is_chain: bool = False


type Record = Foreign | Left | Tie


@dataclass(slots=True)
class FieldCount:
    """One field of theirs: what it becomes, how often it was there, and where not all of it could be kept."""

    there: str
    here: str
    count: int = 0
    lost: int = 0
    examples: list[int] = field(default_factory=list)


def given(record: Mapping[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """Those of ``names`` under which the record says something."""
    return tuple(name for name in names if record.get(name) not in (None, "", [], {}))


def text_of(record: Mapping[str, Any], *names: str) -> str | None:
    """The first of these fields that holds a text."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def texts_of(value: Any) -> list[str]:
    """A list of texts; a text with commas is one too."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    return [part.strip() for part in parts if isinstance(part, str) and part.strip()]


def moment_of(value: Any) -> str | None:
    """A moment as the hub writes it, from ISO 8601 (UTC where no zone is named) or Unix seconds or milliseconds."""
    found: dt.datetime | None = None
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        seconds = value / 1000 if abs(value) > 1e11 else value
        if abs(seconds) < 1e11:
            found = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=seconds)
    elif isinstance(value, str):
        try:
            found = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if found is None:
        return None
    aware = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    try:
        return aware.isoformat() if EARLIEST <= aware <= LATEST else None
    except OverflowError:
        return None


def objects_of(value: Any) -> list[Any]:
    """A list as it is, anything else as no list."""
    return value if isinstance(value, list) else []

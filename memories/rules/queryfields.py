"""The fields of the query language, and what may stand behind each colon."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memories.rules.periods import is_period
from memories.rules.vocabulary import MemoryCategory, MemoryType, Role, SourceKind, Status, Trust, words

COMPARISONS = (">=", "<=", ">", "<")
_SHOWN = 40
_GUESSED_FROM = 64


class Kind(StrEnum):
    """What a field holds."""

    LABEL = "label"  # any text, compared whole
    WORD = "word"  # one of a few words
    SCALE = "scale"  # one of a few words with an order
    MOMENT = "moment"
    ID = "id"


@dataclass(frozen=True, slots=True)
class Field:
    """A name before a colon; ``words`` are all its values when there are only a few."""

    name: str
    kind: Kind
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a value means nothing here, and what would."""

    message: str
    hint: str


def _fields() -> Iterable[Field]:
    for name in ("bank", "agent", "user", "session", "task", "tag", "entity", "fact_key"):
        yield Field(name, Kind.LABEL)
    for name in ("created", "updated", "event", "expires"):
        yield Field(name, Kind.MOMENT)
    yield Field("type", Kind.WORD, tuple(words(MemoryType)))
    yield Field("category", Kind.WORD, tuple(words(MemoryCategory)))
    yield Field("role", Kind.WORD, tuple(words(Role)))
    yield Field("status", Kind.WORD, (*words(Status), "any"))
    yield Field("archived", Kind.WORD, ("true", "false", "any"))
    yield Field("source", Kind.WORD, tuple(words(SourceKind)))
    yield Field("has", Kind.WORD, ("conflict", "links", "expiry", "event", "session", "tags", "entities"))
    yield Field("is", Kind.WORD, ("protected", "archived", "draft", "expired", "superseded", "summarized"))
    yield Field("importance", Kind.SCALE, ("1", "2", "3", "4", "5"))
    yield Field("trust", Kind.SCALE, tuple(words(Trust)))
    yield Field("id", Kind.ID)


FIELDS: Mapping[str, Field] = {field.name: field for field in _fields()}
#: The names the same things have in JSON, and plurals.
ALIASES: Mapping[str, str] = {
    "memory_type": "type",
    "memorytype": "type",
    "memory_bank": "bank",
    "banks": "bank",
    "agent_id": "agent",
    "user_id": "user",
    "session_id": "session",
    "task_id": "task",
    "tags": "tag",
    "entities": "entity",
    "source_kind": "source",
    "created_at": "created",
    "updated_at": "updated",
    "event_at": "event",
    "expires_at": "expires",
    "fact-key": "fact_key",
    "factkey": "fact_key",
}
_WHEN = "A day (2026-10-01), a month (2026-10), a year, today, yesterday or an age (7d, 2w, 3m, 1y)."


def field_named(name: str) -> Field | None:
    """The field with that name or alias, in any case."""
    key = name.casefold()
    return FIELDS.get(ALIASES.get(key, key))


def nearest(word: str, among: Iterable[str]) -> str | None:
    """The word most likely meant."""
    close = difflib.get_close_matches(word[:_GUESSED_FROM].casefold(), list(among), n=1, cutoff=0.6)
    return close[0] if close else None


def shown(text: str) -> str:
    """The text, short enough for a sentence."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def operator_of(field: Field, raw: str) -> tuple[str, str]:
    """The operator of a value written without quotes, and the rest."""
    for operator in COMPARISONS:
        if raw.startswith(operator):
            return operator, raw[len(operator) :]
    if field.kind in {Kind.SCALE, Kind.MOMENT} and ".." in raw:
        return "..", raw
    return "=", raw


def check_value(field: Field, operator: str, raw: str) -> str | Refusal:
    """The value as it is stored, or why there is none."""
    if not raw.strip():
        return Refusal(f"{field.name}: needs a value.", f"Write it right after the colon: {_example(field)}.")
    if operator in COMPARISONS and field.kind not in {Kind.SCALE, Kind.MOMENT}:
        return Refusal(
            f"{field.name}: has no order, so {operator} says nothing.", f"Leave the {operator} out, or quote the value."
        )
    if operator != "..":
        return _single(field, raw)
    ends = [end and _single(field, end) for end in raw.split("..", 1)]
    refusal = next((end for end in ends if isinstance(end, Refusal)), None)
    if refusal is None and not any(ends):
        refusal = Refusal("A range needs at least one end.", f"Such as {_example(field, '..')}.")
    return refusal or "..".join(str(end) for end in ends)


def _single(field: Field, raw: str) -> str | Refusal:
    match field.kind:
        case Kind.MOMENT:
            return raw if is_period(raw) else Refusal(f"“{shown(raw)}” is no date.", _WHEN)
        case Kind.ID:
            return _id(raw)
        case Kind.LABEL:
            return raw.strip()
        case _:
            return _word(field, raw)


def _id(raw: str) -> str | Refusal:
    try:
        return str(UUID(raw))
    except ValueError:
        return Refusal(f"“{shown(raw)}” is no id.", "Ids look like 0199d2c4-7a1e-7b3c-9f00-3b1d2c4e5f60.")


def _word(field: Field, raw: str) -> str | Refusal:
    word = "_".join(raw[:_GUESSED_FROM].casefold().replace("-", " ").split())
    if word in field.words:
        return word
    close = nearest(word, field.words) if len(word) > 1 else None
    every = ", ".join(field.words)
    return Refusal(
        f"{field.name}: cannot be “{shown(raw)}”.",
        f"Did you mean {field.name}:{close}? There are: {every}." if close else f"There are: {every}.",
    )


def on_scale(name: str, operator: str, value: str) -> tuple[str, ...]:
    """The values of a scale that meet a condition, lowest first; a range includes both ends, whichever is lower."""
    scale = FIELDS[name].words
    if operator == "..":
        left, right = value.split("..", 1)
        ends = sorted((scale.index(left) if left else 0, scale.index(right) if right else len(scale) - 1))
        return scale[ends[0] : ends[1] + 1]
    place = scale.index(value)
    parts = {">": scale[place + 1 :], ">=": scale[place:], "<": scale[:place], "<=": scale[: place + 1]}
    return parts.get(operator, (value,))


def _example(field: Field, operator: str = "=") -> str:
    if field.kind is Kind.MOMENT:
        return f"{field.name}:2026-10-01..2026-10-31" if operator == ".." else f"{field.name}:2026-10-01"
    if operator == "..":
        return f"{field.name}:{field.words[0]}..{field.words[-1]}"
    return f"{field.name}:{field.words[0]}" if field.words else f'{field.name}:name or {field.name}:"two words"'

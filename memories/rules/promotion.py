"""What moves up: from a conversation to the daily note, from the note to the core document (TIE-01, TIE-02, CON-12)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from memories.rules.pruning import RESERVED
from memories.rules.vocabulary import MemoryType


class Bar(StrEnum):
    """Why something stays where it is."""

    IMPORTANCE = "too_unimportant"
    CONFIDENCE = "too_doubtful"


@dataclass(frozen=True, slots=True)
class PromotionRules:
    """The least a memory must have for each step, and how many lines the core document may hold."""

    daily_importance: int
    daily_confidence: int
    core_importance: int
    core_confidence: int
    core_mentions: int
    core_lines: int

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> PromotionRules:
        """The rules a vault has set. Of ``core_max_lines`` and ``max_facts`` the lower binds (CON-12)."""
        limits = [limit for limit in (settings["core_max_lines"], settings["max_facts"]) if limit is not None]
        return cls(
            daily_importance=settings["daily_min_importance"],
            daily_confidence=settings["daily_min_confidence"],
            core_importance=settings["core_min_importance"],
            core_confidence=settings["core_min_confidence"],
            core_mentions=settings["core_min_mentions"],
            core_lines=min(limits),
        )


class Weighed(Protocol):
    """What the rules look at."""

    @property
    def type(self) -> str: ...
    @property
    def importance(self) -> int: ...
    @property
    def confidence(self) -> int: ...
    @property
    def is_protected(self) -> bool: ...


class Dated(Weighed, Protocol):
    """The same with the time it is from."""

    @property
    def at(self) -> dt.datetime: ...


def is_reserved(one: Weighed) -> bool:
    """Whether it is never dropped, trimmed or put into other words: protected, a constraint or a correction."""
    return one.is_protected or MemoryType(one.type) in RESERVED


def is_noted(one: Weighed, rules: PromotionRules) -> bool:
    """Whether what was found in a conversation is worth a line in the daily note."""
    sure = one.confidence >= rules.daily_confidence and one.importance >= rules.daily_importance
    return is_reserved(one) or sure


def barred_from_core(one: Weighed, mentions: int, rules: PromotionRules) -> Bar | None:
    """Why it does not move into the core document; None when it does.

    It must be sure enough, and important enough or said often enough; what is reserved moves in any case.
    """
    if is_reserved(one):
        return None
    if one.confidence < rules.core_confidence:
        return Bar.CONFIDENCE
    if one.importance < rules.core_importance and mentions < rules.core_mentions:
        return Bar.IMPORTANCE
    return None


def over_limit(lines: Sequence[Dated], limit: int) -> set[int]:
    """Places of the lines there is no room for: the least sure first, of these the oldest (TIE-12).

    What is reserved stays, even where nothing else is left to go (DEF-20).
    """
    free = [place for place, line in enumerate(lines) if not is_reserved(line)]
    free.sort(key=lambda place: (lines[place].confidence, lines[place].at, place))
    return set(free[: max(len(lines) - limit, 0)])


def scheduled_lookback(wanted: int, oldest: dt.date, today: dt.date, most: int) -> int:
    """How many days back a nightly dream reads: as many as set, or to the ``oldest`` note that none has read."""
    return min(max(wanted, (today - oldest).days), most)

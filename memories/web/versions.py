"""The versions of one memory as a table, and any two of them side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memories.services.revising import REVISED, public_name
from memories.web.changewords import spoken_reason
from memories.web.history import Label, labels_between, values_before, values_now
from memories.web.worddiff import Piece, word_diff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import QueryDict

    from memories.models import Memory, Revision

_LABELS = tuple(public_name(name) for name in REVISED)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions: the words that came and went, and the labels that differ; None for texts that do not open."""

    left: int
    right: int
    pieces: list[Piece] | None
    labels: list[Label]


@dataclass(frozen=True, slots=True)
class Versions:
    """Every version that can be compared, newest first, which two are chosen, and what differs between them."""

    numbers: list[int]
    left: int
    right: int
    comparison: Comparison | None


def versions_of(memory: Memory, revisions: Sequence[Revision], asked: QueryDict, banks: Mapping[str, str]) -> Versions:
    """``left`` and ``right`` of the address say which two; unless both are versions there are, nothing is compared."""
    kept: dict[int, dict[str, Any] | None] = {memory.version: values_now(memory)}
    kept |= {revision.version: values_before(revision) for revision in revisions}
    readable = {number: values for number, values in kept.items() if values is not None}
    numbers = sorted(readable, reverse=True)
    left, right = (_number(asked.get(name, "")) for name in ("left", "right"))
    if left not in readable or right not in readable:
        return Versions(numbers, numbers[1] if len(numbers) > 1 else numbers[0], numbers[0], None)
    before, after = readable[left], readable[right]
    old, new = before.get("content"), after.get("content")
    pieces = word_diff(old, new) if old is not None and new is not None else None
    labels = labels_between(_told(before), _told(after), _LABELS, banks)
    return Versions(numbers, left, right, Comparison(left, right, pieces, labels))


def _told(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "archived_reason": spoken_reason(values.get("archived_reason") or "")}


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0

"""Moves of data that go on while the hub is used: their kinds, and what starting one means (MIG-12)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum


class DataMigration(StrEnum):
    """What a vault can be moved to: another embedding space, a new data key, an index made anew."""

    REEMBED = "reembed"
    RESEAL = "reseal"
    REINDEX = "reindex"


class MigrationState(StrEnum):
    """How a change of the store stands; what failed or was cancelled goes on where it stopped when started again."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class SpaceName:
    """An embedding space as people name it: ``provider/model``, and how many numbers a vector has, where known."""

    provider: str
    model: str
    dimensions: int | None = None

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"

    def fits(self, other: SpaceName) -> bool:
        """Whether vectors of both may be compared (DEG-13); unknown dimensions are checked when a vector is made."""
        if (self.provider, self.model) != (other.provider, other.model):
            return False
        return None in (self.dimensions, other.dimensions) or self.dimensions == other.dimensions


def target_of(asked: str | None, known: Iterable[SpaceName], wanted: SpaceName | None) -> SpaceName | None:
    """The space to re-embed into: the one asked for by name, else the one that is wanted; None without either."""
    if asked is None:
        return wanted
    return next((name for name in known if str(name) == asked.strip()), None)


def next_data_key(versions: Collection[int], roots: int) -> int | None:
    """The version of the data key to add; None while an earlier reseal is not finished, which then goes on."""
    sealing = [version for version in versions if version != roots]
    return max(sealing) + 1 if len(sealing) == 1 else None

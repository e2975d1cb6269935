"""What a store for the bench holds, and the note beside its data that says so when it is benched again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memories.management.bench.client import BenchFailed
from memoryhub.local.datadir import write_private

NOTE = "bench.json"


@dataclass(frozen=True)
class Layout:
    """So many vaults with so many memories each; vault ``v`` holds the memories from ``v * memories`` on."""

    memories: int
    vaults: int = 1
    seed: int = 1

    @property
    def total(self) -> int:
        """All memories of all vaults."""
        return self.memories * self.vaults

    def __str__(self) -> str:
        return f"{self.vaults:,} vaults of {self.memories:,}" if self.vaults > 1 else f"{self.memories:,} memories"


@dataclass(frozen=True)
class Kept:
    """The note of a kept store: its layout, a key for each vault, and what it took to make."""

    layout: Layout
    keys: list[str] = field(repr=False)
    made: dict[str, float]


def read_note(data: Path, layout: Layout) -> Kept | None:
    """What the folder is known to hold; None when it was never filled to the end. Raises BenchFailed for another."""
    path = data / NOTE
    if not path.exists():
        return None
    told = json.loads(path.read_text())
    kept = Kept(Layout(**told["layout"]), told["keys"], told["made"])
    if kept.layout != layout:
        raise BenchFailed(f"{data} holds {kept.layout} of seed {kept.layout.seed}; name another folder for {layout}.")
    return kept


def write_note(data: Path, kept: Kept) -> None:
    """Remember it; the keys in it open the store, so nobody else may read it."""
    write_private(data / NOTE, json.dumps(asdict(kept)) + "\n")

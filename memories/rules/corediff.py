"""What changed between two versions of a core document, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memories.rules.coretext import CoreLine


@dataclass(frozen=True, slots=True)
class LineChange:
    """A line that came (no ``before``), went (no ``after``) or was put otherwise."""

    before: CoreLine | None
    after: CoreLine | None


def changed_lines(before: Sequence[CoreLine], after: Sequence[CoreLine]) -> list[LineChange]:
    """In the order of ``after``, then what went. Lines that share a memory are one that was put otherwise."""
    said = {(line.audience, line.text) for line in before}
    kept = {(line.audience, line.text) for line in after} & said
    gone = [line for line in before if (line.audience, line.text) not in kept]
    changes = []
    for line in after:
        if (line.audience, line.text) in kept:
            continue
        was = next((one for one in gone if set(one.memory_ids) & set(line.memory_ids)), None)
        if was is not None:
            gone.remove(was)
        changes.append(LineChange(was, line))
    return changes + [LineChange(line, None) for line in gone]

"""What a summary takes over from the memories it stands for (CLU-12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

#: The tag every summary of a cluster carries (CLU-10).
SUMMARIZED = "summarized"


def common[T](values: Iterable[T]) -> T | None:
    """The value that all of them have; None where they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def prevailing(values: Sequence[str]) -> str:
    """What most of them are, of equally many the latest; ``values`` are oldest first."""
    counted = Counter(values)
    return max(reversed(values), key=lambda value: counted[value])


def united(values: Iterable[Sequence[str]], most: int) -> list[str]:
    """Every label of any of them, those of most memories first, at most ``most``."""
    counted = Counter(label for labels in values for label in dict.fromkeys(labels))
    return [label for label, _ in counted.most_common(most)]


def tags_of(values: Iterable[Sequence[str]], most: int) -> list[str]:
    """The tags of all, and the one that says what it is, in at most ``most``."""
    told = [tag for tag in united(values, most) if tag != SUMMARIZED]
    return [*told[: most - 1], SUMMARIZED]

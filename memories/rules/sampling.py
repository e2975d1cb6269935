"""When counts beside a list are exact and when they are judged by a sample, decided by the size of the vault alone.

Counting all labels costs about 1 µs a memory, and labels with several values a memory as much again
(docs/performance.md); up to the sizes below it fits into the 200 ms that counts may take. A larger vault is judged by
every n-th memory in the order of writing, which is as likely to be old as new, and the counts are marked approximate.
"""

from __future__ import annotations

from dataclasses import dataclass

EXACT_MAX = 200_000
#: The same for labels with several values a memory, such as tags.
EXACT_MANY_MAX = 50_000
SAMPLE = 20_000
#: An approximate count keeps so many digits: more would claim to know what a sample cannot tell.
_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Sampling:
    """Every ``step``-th memory is looked at; 1 looks at all."""

    step: int = 1

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left out."""
        return self.step == 1

    def rounded(self, count: int) -> int:
        """A count judged by the sample, with no more digits than it can tell."""
        if self.is_exact:
            return count
        unit: int = 10 ** max(0, len(str(count)) - _DIGITS)
        return (count + unit // 2) // unit * unit


def sampling_of(memories: int, is_many: bool = False) -> Sampling:
    """How to count in a vault that holds at most so many memories."""
    return Sampling(1 if memories <= (EXACT_MANY_MAX if is_many else EXACT_MAX) else -(-memories // SAMPLE))

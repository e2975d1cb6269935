"""How often units hold a question's terms: SQL that sends it for rows ``i`` of the keyword index, numpy that reads it.

For a few terms each is looked up in the row, whose terms ascend: halving finds one in half the time of looking through
all. For many it is cheaper to send all the row holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memories.search.windows import Floats

#: Up to so many terms are looked up one by one.
LOOKED_UP_MAX = 12
#: Fewer are looked up as if they were so many, or the next multiple.
_STEP = 4
_HEADER = 20
_OFTEN = np.dtype([("size", ">i4"), ("value", ">i2")])


def counting(terms: Sequence[int]) -> tuple[str, dict[str, Any]]:
    """Two aggregates over the rows, and their parameters, for ``read_counts``."""
    if not terms:
        return "NULL::bytea[], NULL::bytea", {}
    if len(terms) > LOOKED_UP_MAX:
        return f"array_agg(array_send(i.terms)), string_agg(substr(array_send(i.tfs), {_HEADER + 1}), '')", {}
    # A statement for each few numbers of terms and not for every number: each is planned some seven times at first.
    padded = [*terms, *[terms[-1]] * (_padded(len(terms)) - len(terms))]
    named = {f"term_{n}": term for n, term in enumerate(padded)}
    cells = ", ".join(_CELL.replace("<term>", f"%({name})s::int8") for name in named)
    return f"NULL::bytea[], string_agg(array_send(ARRAY[{cells}]::int2[]), '')", named


# The bucket of a value is the place of the last term that is no greater.
_PLACE = "width_bucket(<term>, i.terms)"
_CELL = f"coalesce(CASE WHEN i.terms[{_PLACE}] = <term> THEN i.tfs[{_PLACE}] END, 0)"


def read_counts(count: int, words: Sequence[bytes | None] | None, times: bytes | None, terms: Sequence[int]) -> Floats:
    """(units, terms), for so many units: from arrays as PostgreSQL sends them, (length, value) after a header."""
    if times is None:
        return np.zeros((count, len(terms)))
    if words is None:
        cells = np.dtype([("header", f"V{_HEADER}"), ("cells", _OFTEN, _padded(len(terms)))])
        return np.frombuffer(times, cells)["cells"]["value"][:, : len(terms)].astype(np.float64)
    often = np.frombuffer(times, _OFTEN)["value"]
    return _picked([part[_HEADER:] if part else b"" for part in words], often, np.array(terms, np.int64))


def _padded(count: int) -> int:
    return -(-count // _STEP) * _STEP


def _picked(words: Sequence[bytes], often: Any, terms: Any) -> Floats:
    values = np.frombuffer(b"".join(words), [("size", ">i4"), ("value", ">i8")])["value"].astype(np.int64)
    owners = np.repeat(np.arange(len(words)), [len(part) // 12 for part in words])
    order = np.argsort(terms)
    places = np.minimum(np.searchsorted(terms[order], values), len(terms) - 1)
    hit = terms[order][places] == values
    counts: Floats = np.zeros((len(words), len(terms)))
    counts[owners[hit], order[places[hit]]] = often[hit]
    return counts

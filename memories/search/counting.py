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
_HEADER = 20


def counting(terms: Sequence[int]) -> tuple[str, dict[str, Any]]:
    """Two columns, and their parameters, for ``read_counts``."""
    if not terms or len(terms) > LOOKED_UP_MAX:
        return ("array_send(i.terms), array_send(i.tfs)" if terms else "NULL::bytea, NULL::bytea"), {}
    named = {f"term_{n}": term for n, term in enumerate(terms)}
    cells = ", ".join(_CELL.replace("<term>", f"%({name})s::int8") for name in named)
    return f"NULL::bytea, array_send(ARRAY[{cells}]::int2[])", named


# The bucket of a value is the place of the last term that is no greater.
_PLACE = "width_bucket(<term>, i.terms)"
_CELL = f"coalesce(CASE WHEN i.terms[{_PLACE}] = <term> THEN i.tfs[{_PLACE}] END, 0)"


def read_counts(sent: Sequence[tuple[bytes | None, bytes | None]], terms: Sequence[int]) -> Floats:
    """(units, terms): from arrays as PostgreSQL sends them, (length, value) by element after a header."""
    if not terms or not sent:
        return np.zeros((len(sent), len(terms)))
    times = b"".join(part[_HEADER:] for _, part in sent if part)
    often = np.frombuffer(times, [("size", ">i4"), ("value", ">i2")])["value"]
    if len(terms) <= LOOKED_UP_MAX:
        return often.reshape(len(sent), len(terms)).astype(np.float64)
    return _picked([part[_HEADER:] if part else b"" for part, _ in sent], often, np.array(terms, np.int64))


def _picked(words: Sequence[bytes], often: Any, terms: Any) -> Floats:
    values = np.frombuffer(b"".join(words), [("size", ">i4"), ("value", ">i8")])["value"].astype(np.int64)
    owners = np.repeat(np.arange(len(words)), [len(part) // 12 for part in words])
    order = np.argsort(terms)
    places = np.minimum(np.searchsorted(terms[order], values), len(terms) - 1)
    hit = terms[order][places] == values
    counts: Floats = np.zeros((len(words), len(terms)))
    counts[owners[hit], order[places[hit]]] = often[hit]
    return counts

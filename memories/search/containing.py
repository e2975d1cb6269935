"""Which memories hold every word of a text, wherever in them the words stand: the text filter of lists (SRC-20)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from banks.access import Access
from memories.index.postings import CHUNK
from memories.search.keywords import read_postings

type Numbers = NDArray[np.int64]


def documents_with_all(access: Access, groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each group of terms: document numbers, at least one of every memory that holds all, none of any other.

    Two statements, however many groups there are.
    """
    holding = _holding(access, list({term for terms in groups for term in terms}))
    together: list[Numbers] = [reduce(np.intersect1d, [holding[term] for term in terms]) for terms in groups]
    rest = [
        np.setdiff1d(min((holding[term] for term in terms), key=len), found)
        for terms, found in zip(groups, together, strict=True)
        if len(terms) > 1
    ]
    apart = _siblings(access, np.unique(np.concatenate(rest))) if any(map(len, rest)) else []
    return [
        [*found.tolist(), *(units[0] for units in apart if len(terms) > 1 and _hold(units, terms, holding))]
        for terms, found in zip(groups, together, strict=True)
    ]


def _hold(units: Sequence[int], terms: Sequence[int], holding: Mapping[int, Numbers]) -> bool:
    return all(np.isin(units, holding[term]).any() for term in terms)


def _holding(access: Access, terms: Sequence[int]) -> Mapping[int, Numbers]:
    """Term → the documents that hold it, packed or fresh."""
    parts: dict[int, list[Numbers]] = {term: [np.array([], np.int64)] for term in terms}
    for term, packed in read_postings(access, terms).items():
        parts[term] += [part.offsets.astype(np.int64) + chunk * CHUNK for chunk, part in packed]
    with connection.cursor() as cursor:
        cursor.execute(_FRESH, [list(terms), access.vault_id])
        for term, numbers in cursor.fetchall():
            parts[term].append(np.array(numbers, np.int64))
    return {term: np.concatenate(found) for term, found in parts.items()}


def _siblings(access: Access, numbers: Numbers) -> list[list[int]]:
    """The units of each memory that has one of the documents and others beside it."""
    units: dict[object, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_UNITS, {"vault": access.vault_id, "numbers": numbers.tolist()})
        for memory_id, number in cursor.fetchall():
            units[memory_id].append(number)
    return list(units.values())


_FRESH = """
    SELECT asked.term, array_agg(i.doc_no) FROM unnest(%s::int8[]) AS asked(term)
    JOIN memories_memoryindex i ON i.terms @> ARRAY[asked.term] AND NOT i.is_compacted AND i.vault_id = %s
    GROUP BY asked.term
"""

_UNITS = """
    SELECT other.memory_id, other.doc_no FROM memories_memoryindex other WHERE other.memory_id IN (
        SELECT i.memory_id FROM memories_memoryindex i
        JOIN memories_memoryindex more ON more.memory_id = i.memory_id AND more.unit = 1
        WHERE i.vault_id = %(vault)s AND i.doc_no = ANY(%(numbers)s)
    )
"""

"""Counts by many labels at once, each leaving out its own filters, in one statement and few passes over the rows.

Rows that fail the filters of one label at most are grouped by several labels together and by which one they fail; what
a label counts is the groups that fail nothing, or only its own, added up here. Labels share a pass while the groups
stay few: one pass for all would have as many groups as rows, one for each label reads the rows too often, and GROUPING
SETS sort them (measured: docs/performance.md). A label with several values a memory has a pass of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, and_
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import BooleanField, Case, F, Func, Q, Value, When

from banks.access import Access
from memories.rules.sampling import Sampling, sampling_of
from memories.search.filtering import Conditions, narrowed

#: Of a label with several values a memory so many are kept, the most frequent, for each filter that is left out.
_VALUES_MAX = 200
#: Labels share a pass while they have fewer combinations than this.
_TOGETHER_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Label:
    """A name, what is counted, the names of the filters it leaves out, and about how many values it has.

    ``is_many``: an array of values.
    """

    name: str
    value: Any
    own: tuple[str, ...]
    size: int = 8
    is_many: bool = False


@dataclass(slots=True)
class Tallies:
    """Label → value as text → how many memories have it, made whole where a sample was looked at.

    ``total``: how many pass every filter; None where that was not counted, or only in a sample.
    """

    counts: dict[str, Counter[str | None]]
    total: int | None = None


def flags(conditions: Iterable[Q]) -> Any:
    """Several conditions as one label: a number with a bit for each."""
    bits = (Case(When(condition, then=1 << place), default=0) for place, condition in enumerate(conditions))
    return reduce(add, bits, Value(0))


def tallied(access: Access, given: Conditions, labels: Sequence[Label]) -> Tallies:
    """Count the caller's memories by each label."""
    tallies = Tallies({label.name: Counter() for label in labels})
    own = [tuple(name for name in label.own if given.get(name)) for label in labels]
    left_out = list(dict.fromkeys(names for names in own if names))
    passes = _passes(labels)
    width = max(len(places) for places in passes)
    parts, params = [], []
    try:
        for number, places in enumerate(passes):
            sampling = sampled(access, labels[places[0]])
            base, values = _base(access, given, labels, left_out, sampling)
            parts.append(f"({_statement(base, number, width, (labels, places))})")
            params += values
    except EmptyResultSet:
        return Tallies(tallies.counts, 0)
    with connection.cursor() as cursor:
        cursor.execute("\nUNION ALL\n".join(parts), params)
        rows = cursor.fetchall()
    for number, *values, fails, count in rows:
        for place, value in zip(passes[number], values, strict=False):
            if fails == 0 or (own[place] and left_out[fails - 1] == own[place]):
                tallies.counts[labels[place].name][value] += sampled(access, labels[place]).step * count
    if not labels[passes[0][0]].is_many and sampled(access, labels[passes[0][0]]).is_exact:
        tallies.total = sum(row[-1] for row in rows if row[0] == 0 and row[-2] == 0)
    return tallies


def sampled(access: Access, label: Label) -> Sampling:
    """How a label is counted in the caller's vault."""
    return sampling_of(access.vault.next_doc_no, label.is_many)


def count_without(access: Access, given: Conditions, groups: Sequence[tuple[str, ...]]) -> list[int]:
    """How many would pass if the filters of a group were left out, for each group; judged by a sample where labels are.

    For a list on which nothing stands: it tells which condition is to blame.
    """
    asked = [tuple(name for name in names if given.get(name)) for names in groups]
    left_out = list(dict.fromkeys(names for names in asked if names))
    if not left_out:
        return [0] * len(groups)
    sampling = sampling_of(access.vault.next_doc_no)
    try:
        base, params = _base(access, given, [], left_out, sampling)
    except EmptyResultSet:
        return [0] * len(groups)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT b.fails, count(*) FROM ({base}) b GROUP BY b.fails", params)
        counted: dict[int, int] = dict(cursor.fetchall())
    found = {names: counted.get(0, 0) + counted.get(place + 1, 0) for place, names in enumerate(left_out)}
    return [sampling.rounded(found.get(names, 0) * sampling.step) for names in asked]


def _passes(labels: Sequence[Label]) -> list[list[int]]:
    """Places of labels that are counted together."""
    passes: list[list[int]] = []
    combinations = _TOGETHER_MAX
    for place, label in enumerate(labels):
        if label.is_many:
            continue
        combinations *= label.size
        if combinations >= _TOGETHER_MAX:
            passes.append([])
            combinations = label.size
        passes[-1].append(place)
    return [*passes, *([place] for place, label in enumerate(labels) if label.is_many)]


def _statement(base: str, number: int, width: int, of: tuple[Sequence[Label], Sequence[int]]) -> str:
    """SQL of (number of the pass, a value for each of its labels, nothing up to ``width``, fails, count)."""
    labels, places = of
    unknown = ["NULL"] * (width - len(places))
    if labels[places[0]].is_many:
        column = f"b.v{places[0]}"
        shown = ", ".join([str(number), "one::text", *unknown, "b.fails"])
        return (
            f"SELECT {shown}, count(*) AS n FROM ({base}) b, unnest({column}) AS one WHERE {column} <> '{{}}'"
            f" GROUP BY one, b.fails ORDER BY n DESC, one LIMIT {_VALUES_MAX}"
        )
    columns = [f"b.v{place}" for place in places]
    shown = ", ".join([str(number), *(f"{column}::text" for column in columns), *unknown, "b.fails"])
    return f"SELECT {shown}, count(*) AS n FROM ({base}) b GROUP BY {', '.join([*columns, 'b.fails'])}"


def _base(
    access: Access,
    given: Conditions,
    labels: Sequence[Label],
    left_out: Sequence[tuple[str, ...]],
    sampling: Sampling,
) -> tuple[str, list[Any]]:
    """SQL of rows (v0, v1, …, fails): 0 for those that pass everything, n when only the n-th group is failed."""
    rows = narrowed(access, given, {name for names in left_out for name in names}).order_by()
    if not sampling.is_exact:
        rows = rows.filter(_every(sampling.step, access.vault.next_doc_no))
    columns = {f"v{place}": label.value for place, label in enumerate(labels)}
    passing = {
        f"p{place}": _truth(reduce(and_, (given[name] for name in names))) for place, names in enumerate(left_out)
    }
    sql, params = rows.annotate(**columns, **passing).values(*columns, *passing).query.sql_with_params()
    # What is unknown is not passed, as in a filter.
    failing = [f"(q.p{place} IS NOT TRUE)" for place in range(len(left_out))]
    if not failing:
        return f"SELECT q.*, 0 AS fails FROM ({sql}) q", list(params)
    which = " ".join(f"WHEN {one} THEN {place + 1}" for place, one in enumerate(failing))
    count = " + ".join(f"{one}::int" for one in failing)
    at_most_one = f" WHERE {count} <= 1" if len(failing) > 1 else ""
    return f"SELECT q.*, CASE {which} ELSE 0 END AS fails FROM ({sql}) q{at_most_one}", list(params)


def _truth(condition: Q) -> Any:
    """Whether it is met, also where nothing can meet it."""
    return Case(When(condition, then=Value(True)), default=Value(False), output_field=BooleanField())


def _every(step: int, last: int) -> Any:
    """Every ``step``-th document, by the index of documents: an array is looked up, a remainder would be worked out."""
    numbers = Func(Value(1), Value(last), Value(step), template="ANY(ARRAY(SELECT generate_series(%(expressions)s)))")
    return Func(F("doc_no"), numbers, template="%(expressions)s", arg_joiner=" = ", output_field=BooleanField())


def bits(counted: Mapping[str | None, int], names: Sequence[str]) -> dict[str, int]:
    """``flags`` counted → the name of each condition → how many meet it."""
    return {
        name: sum(count for said, count in counted.items() if int(said or 0) >> place & 1)
        for place, name in enumerate(names)
    }

"""mem0's filters in the hub's words: what can be asked, and that nothing ever widens."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from memories.rules.mem0filters import read_filters
from memories.rules.querylanguage import parse
from memoryhub.lib.errors import Invalid

JANUARY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
TICK = dt.timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"user_id": "a"}, {"user_id": ["a"]}),
        ({"AND": [{"user_id": "a"}, {"run_id": "r"}]}, {"user_id": ["a"], "session_id": ["r"]}),
        ({"user_id": {"in": ["a", "b"]}}, {"user_id": ["a", "b"]}),
        ({"user_id": {"eq": "a"}}, {"user_id": ["a"]}),
        ({"user_id": "*", "agent_id": "x"}, {"agent_id": ["x"]}),
        ({"AND": [{"user_id": {"in": ["a", "b"]}}, {"user_id": "b"}, {"user_id": "*"}]}, {"user_id": ["b"]}),
        ({"OR": [{"user_id": "a"}, {"user_id": {"in": ["b", "a"]}}]}, {"user_id": ["a", "b"]}),
        ({"AND": [{"OR": [{"user_id": "a"}, {"user_id": "b"}]}, {"user_id": "b"}]}, {"user_id": ["b"]}),
        ({"user_id": {"in": ["a", "b"], "ne": "a"}}, {"user_id": ["a", "b"], "q": '-user:"a"'}),
        ({"NOT": [{"run_id": {"in": ["r", "s"]}}]}, {"q": '-session:"r" -session:"s"'}),
        ({"NOT": [{"agent_id": {"ne": "x"}}]}, {"agent_id": ["x"]}),
        ({"user_id": {"ne": 'a\\" b'}}, {"q": '-user:"a\\\\\\" b"'}),
        ({"categories": {"in": ["a", "b c"]}}, {"q": 'tag:"a" tag:"b c"'}),
        ({"created_at": {"gt": "2026-01-01"}}, {"created_after": JANUARY + TICK}),
        (
            {
                "AND": [
                    {"created_at": {"gte": "2026-01-01"}},
                    {"created_at": {"gte": "2025-01-01", "lte": "2026-01-01"}},
                ]
            },
            {"created_after": JANUARY, "created_before": JANUARY + TICK},
        ),
        ({"user_id": 5}, {"user_id": ["5"]}),
    ],
)
def test_filters(filters: dict[str, Any], ids: dict[str, list[str]]):
    assert read_filters({}, filters) == ids


@pytest.mark.parametrize(
    "filters",
    [
        {"OR": []},
        {"OR": [{"user_id": "a"}, {"run_id": "r"}]},
        {"OR": [{"user_id": "a", "run_id": "r"}]},
        {"OR": [{"user_id": {"ne": "a"}}, {"user_id": "b"}]},
        {"OR": [{"user_id": {"eq": "a", "in": ["b"]}}]},
        {"NOT": [{"user_id": "a", "run_id": "r"}]},
        {"NOT": {"user_id": "a"}},
        {"NOT": [{"NOT": [{"user_id": "a"}]}]},
        {"user_id": {"ne": "*"}},
        {"user_id": {"like": "a"}},
        {"user_id": {"nin": [str(number) for number in range(33)]}},
        {"user_id": True},
        {"user_id": ["a"]},
        {"created_at": {"gte": "soon"}},
        {"created_at": {"gte": 5}},
        {"created_at": {"ne": "2026-01-01"}},
        {"created_at": {"lte": "9999-12-31"}},
        {"categories": "x"},
        {"categories": {"in": ["a"], "contains": "b"}},
        {"category": "x"},
        {"metadata": {"room": "kitchen"}},
        {},
        {"AND": []},
        {"AND": [{}]},
        {"AND": {}},
        {"AND": ["x"]},
        {"user_id": {}},
        {"user_id": {"in": []}},  # nobody; never everybody
        {"user_id": ""},
        {"user_id": " "},
        {"user_id": {"in": ["a", ""]}},
        {"AND": [{"user_id": "a"}, {"user_id": "b"}]},
    ],
)
def test_filters_that_cannot_be_asked(filters: dict[str, Any]):
    with pytest.raises(Invalid):
        read_filters({}, filters)


@pytest.mark.parametrize("name", ['a"', "\\", 'a" user:"b', "“", "a\nb", "-", "user:x", "  a  ", '\\"', ">1"])
def test_whatever_an_id_holds_it_is_one_condition(name: str):
    """In the query language a quote that closes too early would let the rest of the id say something."""
    q = read_filters({}, {"NOT": [{"user_id": name}]})["q"]
    read = parse(q)
    assert (read.errors, read.words, read.phrases) == ((), (), ())
    assert [(term.field, term.operator, term.value, term.negated) for term in read.terms] == [
        ("user", "=", name.strip(), True)
    ]


def test_ids_and_filters_narrow_each_other():
    assert read_filters({"user_id": "a"}, {"user_id": {"in": ["a", "b"]}}) == {"user_id": ["a"]}
    assert read_filters({"user_id": "a"}, None) == {"user_id": ["a"]}
    with pytest.raises(Invalid):
        read_filters({"user_id": "a"}, {"user_id": "b"})

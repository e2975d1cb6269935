"""The language of the search box: what it reads, what it says about mistakes, and that no text can break it."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.rules.querylanguage import MISTAKES_MAX, PARTS_MAX, parse
from memories.rules.queryparts import ParsedQuery
from memories.rules.querytext import parts_of

WHOLE = (
    'bank:work type:preference -tag:tmp entity:"Home Lab" created:>2026-10-01 has:conflict "exact phrase" free words'
)


def conditions(text: str) -> list[str]:
    return [f"{'-' * term.negated}{term.field}{term.operator}{term.value}" for term in parse(text).terms]


def sayings(text: str) -> tuple[list[str], list[str]]:
    query = parse(text)
    return tuple(["-" * one.negated + one.text for one in found] for found in (query.words, query.phrases))  # type: ignore[return-value]


def mistakes(text: str) -> list[str]:
    """Each as the piece it points at, and the hint."""
    return [f"{text[one.start : one.end]} | {one.hint}" for one in parse(text).errors]


def test_all_of_it_in_one_line():
    query = parse(WHOLE)
    assert conditions(WHOLE) == [
        "bank=work",
        "type=preference",
        "-tag=tmp",
        "entity=Home Lab",
        "created>2026-10-01",
        "has=conflict",
    ]
    assert sayings(WHOLE) == (["free", "words"], ["exact phrase"])
    assert query.free_text == "free words"
    assert query.errors == ()
    assert [WHOLE[term.start : term.end] for term in query.terms][2:4] == ["-tag:tmp", 'entity:"Home Lab"']


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("Type:FACT", "type=fact"),
        ("memoryType:fact", "type=fact"),
        ("agent_id:a1", "agent=a1"),
        ("category:user-profile", "category=user_profile"),
        ("importance:>=4", "importance>=4"),
        ("importance:2..4", "importance..2..4"),
        ("trust:<stated", "trust<stated"),
        ("trust:stated..", "trust..stated.."),
        ("created:7d", "created=7d"),
        ("created:..2026-10", "created....2026-10"),
        ('created:>="2026-10-01"', "created>=2026-10-01"),
        ("tag:a..b", "tag=a..b"),
        ('tag:">x"', "tag=>x"),
        ('entity:"5\\" pipe"', 'entity=5" pipe'),
        ("entity:“Home Lab”", "entity=Home Lab"),
        ("-is:archived", "-is=archived"),
        ("id:0199D2C4-7A1E-7B3C-9F00-3B1D2C4E5F60", "id=0199d2c4-7a1e-7b3c-9f00-3b1d2c4e5f60"),
    ],
)
def test_a_condition(text: str, condition: str):
    assert conditions(text) == [condition]
    assert mistakes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a:b?c=d",
        "source://x",
        "10:30",
        "C:\\Users\\alice",
        "C:/Users/alice",
        "std::vector",
        "localhost:8000",
        "error:404",
        "mailto:alice@example.org",
        "todo:",
        "--flag",
        "a-b",
        '12"',
        "100%",
        "_",
        "日本語",
        "x" * 40 + ":y",
    ],
)
def test_what_only_looks_like_a_condition_is_a_word(text: str):
    """SRC-20: addresses, times, paths and operators of other languages are text."""
    assert sayings(text) == ([text], [])
    assert mistakes(text) == []


def test_words_and_phrases_left_out():
    assert sayings('-draft -"red wine" red - --') == (["-draft", "red", "-", "--"], ["-red wine"])
    assert sayings('"say \\"hi\\"" "C:\\new" „Guten Tag“ ""') == ([], ['say "hi"', "C:\\new", "Guten Tag"])


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("banc:work oats", "banc: | Did you mean bank:work?"),
        ("foo:bar oats", 'foo: | To look for the text itself, quote it: "foo:bar".'),
        ('foo:"bar baz" oats', 'foo: | To look for the text itself, quote it: "foo:bar baz".'),
        ("bank: oats", 'bank: | Write it right after the colon: bank:name or bank:"two words".'),
        ('bank:"" oats', 'bank:"" | Write it right after the colon: bank:name or bank:"two words".'),
        ("importance:9 oats", "9 | There are: 1, 2, 3, 4, 5."),
        ("created:>soon oats", ">soon | A day (2026-10-01), a month (2026-10), a year, today, yesterday or an age"),
        ("created:.. oats", ".. | Such as created:2026-10-01..2026-10-31."),
        ("tag:>x oats", ">x | Leave the > out, or quote the value."),
        ("id:5 oats", "5 | Ids look like"),
        ('oats "', '" | Close it, or leave it out.'),
        ('entity:"Home oats', '" | Close it, or leave it out.'),
        ("-is:archvd oats", "archvd | Did you mean is:archived?"),
    ],
)
def test_a_mistake_is_shown_and_the_rest_still_works(text: str, mistake: str):
    [found] = mistakes(text)
    assert found.startswith(mistake)
    assert parse(text).free_text == "oats"
    assert conditions(text) == []


def test_a_quote_never_closed_gives_way():
    assert sayings('"red bank:work wine') == (["red", "wine"], [])
    assert conditions('"red bank:work wine') == ["bank=work"]
    assert sayings('-"red wine') == (["-red", "wine"], [])


def test_no_more_than_can_be_answered():
    query = parse("tag:x " * (PARTS_MAX + 5) + "oats -wheat")
    assert (len(query.terms), query.free_text, len(query.errors)) == (PARTS_MAX, "oats", 1)
    assert len(parse("type:x " * 100).errors) == MISTAKES_MAX


PIECES = ["bank:", "tag:", "created:", "importance:", "foo:", '"', "“", "”", "\\", "-", " ", ">", "..", "x", "7d", "\n"]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=40).map("".join)


@given(hostile)
def test_any_text_parses(text: str):
    """SRC-20: nothing raises, and every place is inside the text and holds something."""
    query = parse(text)
    spans = [(part.start, part.end) for part in parts_of(query)]
    places = [*spans, *((mistake.start, mistake.end) for mistake in query.errors)]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert len(query.errors) <= MISTAKES_MAX
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize(
    "piece",
    [
        '"\\" ',
        "“ ",
        '"',
        "-",
        'tagg:"',
        "tipe:x ",
        "aaaaaaaa:1 ",
        'bank:" ',
        "\\",
        '-"a ',
        "importance:1..",
        "„”\\",
        "a" * 99 + ":",
    ],
)
def test_hostile_text_takes_no_time(piece: str):
    """SRC-20: twice the text, about twice the time; ten thousand characters in milliseconds."""
    text = (piece * 10_000)[:10_000]
    started = time.process_time()
    query = parse(text)
    assert time.process_time() - started < 0.5
    assert isinstance(query, ParsedQuery)

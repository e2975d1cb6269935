"""Queries written out, shortened, and with carets under their mistakes."""

from __future__ import annotations

from hypothesis import given

from memories.rules.querylanguage import parse
from memories.rules.queryparts import ParsedQuery, QueryMistake
from memories.rules.querytext import caret, parts_of, render, without
from tests.memories.rules.test_querylanguage import WHOLE, hostile


def meaning(query: ParsedQuery) -> list[object]:
    return [
        [(one.text, one.negated) for one in query.words],
        [(one.text, one.negated) for one in query.phrases],
        [(one.field, one.operator, one.value, one.negated) for one in query.terms],
    ]


def test_written_out_as_it_was():
    assert render(parse(WHOLE)) == WHOLE
    assert (
        render(parse('Entity:“Home Lab”  tag:"a b" created:>="2026"')) == 'entity:"Home Lab" tag:"a b" created:>=2026'
    )


@given(hostile)
def test_written_out_it_asks_for_the_same(text: str):
    query = parse(text)
    again = parse(render(query))
    assert meaning(again) == meaning(query)


def test_a_part_can_be_taken_away():
    parts = {WHOLE[part.start : part.end]: part for part in parts_of(parse(WHOLE))}
    assert without(WHOLE, parts["-tag:tmp"]) == WHOLE.replace("-tag:tmp ", "")
    assert without(WHOLE, parts["words"]) == WHOLE.removesuffix(" words")
    assert without("banc:x  tag:y  oats", parse("banc:x  tag:y  oats").terms[0]) == "banc:x oats"


def pointed(text: str) -> list[str]:
    return caret(text, parse(text).errors[0]).splitlines()


def test_a_caret_stands_under_the_mistake():
    assert pointed("red banc:work") == ["red banc:work", "    ^^^^^"]
    assert pointed("日本 banc:work") == ["日本 banc:work", "     ^^^^^"]
    assert pointed("red\u200b\ntipe:x") == ["red  tipe:x", "     ^^^^^"]


def test_a_long_text_is_cut_around_it():
    line, marks = pointed("wine " * 500 + "banc:work " + "wine " * 500)
    assert line.startswith("…") and line.endswith("…") and len(line) < 90
    assert line[marks.index("^") :].startswith("banc:work")
    line, marks = caret("x" * 9_000, QueryMistake("", 10, 8_000, "")).splitlines()
    assert len(line) < 100 and len(marks) < 100


@given(hostile)
def test_two_lines_for_any_mistake(text: str):
    for mistake in parse(text).errors:
        line, marks = caret(text, mistake).split("\n")
        assert marks.strip(" ").strip("^") == "" and "^" in marks
        assert line

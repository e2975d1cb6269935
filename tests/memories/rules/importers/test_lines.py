"""Records as lines: numbered as they stand, cut to what fits, never dropped without a word."""

from __future__ import annotations

import json
from typing import Any

from memories.rules.exchange import MemoryLine, Refusal, parse_header, parse_line, parse_trailer
from memories.rules.importers.kinds import ImportKind
from memories.rules.importers.lines import Conversion, Placing
from memories.rules.importers.records import Foreign, Left, Record, Tie

AT = "2026-11-22T00:00:00+00:00"


def converted(*records: Record, **placing: Any) -> tuple[list[dict[str, Any]], Conversion]:
    conversion = Conversion(ImportKind.MEM0, Placing(AT, **placing))
    lines = list(conversion.lines(records))
    parse_header(lines[0])
    assert parse_trailer(lines[-1].rstrip()) is not None
    assert not [
        one
        for one in (parse_line(2, line.rstrip()) for line in lines[1:-1])
        if isinstance(one, Refusal) and one.code == "unknown_kind"
    ]
    return [json.loads(line) for line in lines[1:-1]], conversion


def memory(key: str = "1", **values: Any) -> Foreign:
    return Foreign(
        key, {"content": "Likes tea", **values}, ("memory", "metadata") if "extra" in values else ("memory",)
    )


def test_a_record_is_one_line_and_says_where_it_is_from():
    (line, left, other), _ = converted(memory(), Left("x", "is nothing"), memory("2"))
    assert (line["external_write_id"], line["trust"], line["source_kind"]) == ("mem0:1", "untrusted", "import")
    assert (line["created_at"], line["namespace"]) == (AT, ["default"])
    assert (left["kind"], left["code"]) == ("unmapped", "x")
    assert isinstance(MemoryLine.parse(other), MemoryLine) and other["id"] != line["id"]


def test_the_same_record_is_the_same_line_again():
    one, two = (converted(memory())[0] for _ in range(2))
    assert one == two


def test_what_does_not_fit_is_cut_and_counted_with_its_place():
    deep: dict[str, Any] = {}
    for _ in range(12):
        deep = {"a": deep}
    lines, conversion = converted(
        memory("1"), memory("2", extra=deep), memory("3", tags=["x" * 70, *map(str, range(50))])
    )
    assert (lines[1]["kind"], "extra" in lines[1]) == ("memory", False)
    assert (len(lines[2]["tags"]), len(lines[2]["tags"][0])) == (32, 64)
    assert {"there": "metadata", "here": "extra", "count": 1, "lost": 1, "examples": [2]} in conversion.mapping


def test_what_cannot_be_a_memory_is_a_line_too():
    lines, _ = converted(
        memory("1", user_id="u" * 300),
        Foreign("2", {"content": "x" * 100_001}, ()),
        Foreign("3", {"content": "a\0b"}, ()),
    )
    assert [line["kind"] for line in lines] == ["unmapped"] * 3
    assert all(line["wanted"] and "xxx" not in line["detail"] for line in lines)


def test_ids_too_long_for_a_label_and_surrogates_are_taken():
    (line, odd), _ = converted(memory("k" * 400), Foreign("\ud800", {"content": "x", "extra": {"a": "\ud800"}}, ()))
    assert line["external_write_id"].startswith("mem0:sha256:")
    assert odd["kind"] in {"memory", "unmapped"}


def test_ties_become_links_of_what_is_there():
    lines, _ = converted(memory("1"), Tie("1", "2"), Tie("1", "9"), Tie("1", "1"), memory("2"))
    assert [line["kind"] for line in lines] == ["memory", "memory", "link"]


def test_bank_and_namespace_are_the_callers():
    (line,), _ = converted(memory(namespace=["a", "b"]), bank="Work", namespace=("x",))
    assert (line["bank"], line["namespace"]) == ("Work", ["x"])

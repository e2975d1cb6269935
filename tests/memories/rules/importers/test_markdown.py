"""Pages of Markdown, point by point."""

from __future__ import annotations

from memories.rules.importers.markdown import read_page
from memories.rules.importers.records import Foreign, Left
from memories.rules.vocabulary import MemoryType

PAGE = """---
label: human
description: "About her"
---
# About Mara

Works in Linz,
in a bakery.

## Likes
- tea
  - black, no sugar
* [ ] dogs
1. swimming

- tea
- [Index](index.md)

```
- not a point
```
"""


def said(path: str, text: str) -> list[tuple[str, object]]:
    return [
        (one.values["content"], one.values["extra"].get("headings")) if isinstance(one, Foreign) else (one.code, None)
        for one in read_page(path, text)
        if isinstance(one, Foreign | Left)
    ]


def test_points_and_paragraphs_under_their_headings():
    assert said("memory/human.md", PAGE) == [
        ("Works in Linz,\nin a bakery.", ["About Mara"]),
        ("tea\n  - black, no sugar", ["About Mara", "Likes"]),
        ("dogs", ["About Mara", "Likes"]),
        ("swimming", ["About Mara", "Likes"]),
        ("tea", ["About Mara", "Likes"]),
        ("only_a_link", None),
        ("```\n- not a point\n```", ["About Mara", "Likes"]),
    ]


def test_front_matter_and_file_are_kept():
    first = next(iter(read_page("memory/human.md", PAGE)))
    assert isinstance(first, Foreign)
    extra = first.values["extra"]
    assert (extra["file"], extra["label"], extra["description"]) == ("memory/human.md", "human", "About her")


def test_a_day_in_the_name_is_when_it_was():
    (found,) = read_page("memory/2026-11-20.md", "- Met Tom", at="2026-11-22T00:00:00+00:00")
    assert isinstance(found, Foreign)
    assert found.values["event_at"] == found.values["created_at"] == "2026-11-20T00:00:00+00:00"
    assert found.values["type"] == MemoryType.EPISODIC


def test_the_same_point_has_the_same_id_wherever_it_moves():
    one, two = (list(read_page("MEMORY.md", text)) for text in ("- a\n- b\n", "# New\n- b\n- a\n"))
    assert {each.key for each in one} == {each.key for each in two}  # type: ignore[union-attr]


def test_what_stands_twice_is_told_once():
    assert [code for code, _ in said("MEMORY.md", "- a\n- a\n")] == ["a", "repeated"]


def test_an_empty_page_holds_nothing():
    assert said("a.md", "") == [] and said("a.md", "# Only a heading\n\n---\n") == []

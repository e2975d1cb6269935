"""Items of a LangGraph store."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.exchange import FileRefused
from memories.rules.importers.langmem import read_store
from memories.rules.importers.records import Foreign, Left
from memories.rules.vocabulary import MemoryCategory, MemoryType


def item(value: Any, **changes: Any) -> dict[str, Any]:
    base = {
        "namespace": ["memories", "mara"],
        "key": "k1",
        "value": value,
        "created_at": "2026-02-01T10:00:00+00:00",
        "updated_at": "2026-02-02T10:00:00+00:00",
    }
    return base | changes


def only(document: Any) -> Any:
    (found,) = read_store(document)
    return found


@pytest.mark.parametrize(
    ("value", "content", "extra"),
    [
        ({"kind": "Memory", "content": {"content": "Likes tea"}}, "Likes tea", {}),
        ({"content": "Likes tea"}, "Likes tea", {}),
        ({"text": "Likes tea", "n": 1}, "Likes tea", {"value": {"text": "Likes tea", "n": 1}}),
        (
            {"name": "Mara", "langs": ["de", "en"]},
            "name: Mara\nlangs: de, en",
            {"value": {"name": "Mara", "langs": ["de", "en"]}},
        ),
    ],
    ids=["langmem", "plain", "with more", "schema"],
)
def test_what_a_value_says(value: Any, content: str, extra: dict[str, Any]):
    found = only([item(value)])
    assert (found.values["content"], found.values["extra"]) == (content, extra)
    assert (found.key, found.values["namespace"]) == ("memories/mara/k1", ["memories", "mara"])


def test_schemas_of_langmem_are_known():
    episode = only({"items": [item({"kind": "Episode", "content": {"observation": "Asked", "result": "Fine"}})]})
    assert (episode.values["type"], episode.values["content"]) == (
        MemoryType.EPISODIC,
        "observation: Asked\nresult: Fine",
    )
    profile = only([item({"kind": "UserProfile", "content": {"name": "Mara"}})])
    assert profile.values["category"] == MemoryCategory.USER_PROFILE


def test_a_deep_namespace_keeps_every_part():
    assert only([item({"text": "x"}, namespace="a.b.c.d.e.f")]).values["namespace"] == ["a", "b", "c", "d/e/f"]


@pytest.mark.parametrize(
    "bad", [{}, 7, item(None), item({}), item({"text": "x"}, namespace=[]), item({"text": "x"}, namespace=[1])]
)
def test_what_says_nothing_is_told(bad: Any):
    found = only([bad])
    assert isinstance(found, Left) and found.wanted


def test_what_is_no_list_is_refused():
    with pytest.raises(FileRefused, match="LangGraph"):
        list(read_store({"nodes": []}))
    assert isinstance(only([item("text")]), Foreign)

"""Letta's blocks and passages."""

from __future__ import annotations

import pytest

from memories.rules.exchange import FileRefused
from memories.rules.importers.letta import read_letta
from memories.rules.importers.records import Foreign, Left
from memories.rules.vocabulary import MemoryCategory


def test_an_agent_file():
    block = {"id": "block-1", "label": "human", "value": "Mara, a baker.", "description": "About her", "limit": 5000}
    document = {"agents": [{"id": "agent-0", "messages": [{}]}], "blocks": [block], "tools": []}
    found, turns = read_letta(document)
    assert isinstance(found, Foreign) and isinstance(turns, Left)
    assert (found.key, found.values["content"], found.values["fact_key"]) == ("block-1", "Mara, a baker.", "human")
    assert found.values["category"] == MemoryCategory.USER_PROFILE
    assert found.values["extra"] == {"description": "About her"}


def test_passages_as_a_list():
    passage = {"id": "passage-1", "text": "The oven is new.", "created_at": "2026-01-01T00:00:00Z", "tags": ["oven"]}
    (found,) = read_letta([passage])
    assert isinstance(found, Foreign)
    assert (found.values["tags"], found.values["created_at"]) == (["oven"], "2026-01-01T00:00:00+00:00")


def test_what_is_none_is_refused_or_told():
    with pytest.raises(FileRefused, match="Letta"):
        list(read_letta({"tools": []}))
    for row in ({}, {"value": ""}, {"value": "x"}, 3):
        (found,) = read_letta([row])
        assert isinstance(found, Left) and found.wanted

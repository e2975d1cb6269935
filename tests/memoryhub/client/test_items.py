"""Items as agents know them."""

from __future__ import annotations

import pytest

from memories.rules.vocabulary import Role
from memoryhub.client import (
    AIMemory,
    HumanMemory,
    MemoryCategory,
    MemoryItem,
    MemoryMetadata,
    MemoryStatus,
    StatusMoveRefused,
    SystemMemory,
    ToolMemory,
)
from memoryhub.client.items import item_of

CALL = {"id": "call_1", "function": {"name": "search", "arguments": '{"query": "tides"}'}}


def test_each_kind_says_who_spoke():
    """MOD-03…06: the role is the class's own, and what may be left out has a value."""
    items = [SystemMemory(content="a"), HumanMemory(content="b"), AIMemory(content="c", tool_calls=[])]
    items.append(ToolMemory(content="d", tool_call_id="call_1", tool_name="search", is_error=True))
    assert [item.memory_type for item in items] == list(Role)
    assert {item.status for item in items} == {MemoryStatus.ACCEPTED}
    assert {item.category for item in items} == {None}
    assert len({item.id for item in items}) == 4
    assert items[0].created_at.tzinfo is not None


def test_a_tool_call_round_trips():
    """MOD-07: as JSON and back, the call's arguments a JSON text, its id that of the result."""
    asked = AIMemory(content="Let me look.", tool_calls=[CALL])
    result = ToolMemory(content="High at noon.", tool_call_id=CALL["id"], tool_name="search")
    for item in (asked, result):
        again = item_of(item.model_dump(mode="json"))
        assert again == item and type(again) is type(item)
    assert asked.tokens > HumanMemory(content="Let me look.").tokens


def test_labels_route_and_extra_is_the_callers():
    """MOD-18, MOD-19."""
    metadata = MemoryMetadata(user_id="u-1", extra={"any": ["thing"]})
    assert metadata.labels == {"user_id": "u-1"}
    assert MemoryMetadata().labels == {}


def test_a_status_moves_only_forward():
    """MOD-01, STA-05, STA-07."""
    item = MemoryItem(content="Maybe.", status=MemoryStatus.DRAFT, category=MemoryCategory.EPISODIC)
    before = item.updated_at
    item.transition(MemoryStatus.ACCEPTED)
    item.transition(MemoryStatus.DISCARD)
    assert item.status is MemoryStatus.DISCARD and item.updated_at >= before
    with pytest.raises(StatusMoveRefused):
        item.transition(MemoryStatus.ACCEPTED)

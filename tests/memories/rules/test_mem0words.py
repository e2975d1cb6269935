"""mem0's requests in the hub's words."""

from __future__ import annotations

import datetime as dt

import pytest

from memories.rules.mem0words import (
    AddMemories,
    IdMissing,
    Kept,
    SearchMemories,
    UpdateMemory,
    history_of,
)
from memories.rules.vocabulary import Role
from memoryhub.lib.errors import Invalid

NOON = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)


def test_messages_in_every_form():
    for messages in ("hi", {"role": "user", "content": "hi"}, [{"role": "user", "content": "hi", "name": "x"}]):
        (draft,) = AddMemories.parse({"messages": messages, "user_id": "a", "version": "v2"}).drafts()
        assert (draft.content, draft.user_id, draft.agent_id, draft.role) == ("hi", "a", None, Role.HUMAN)
    with pytest.raises(Invalid):
        AddMemories.parse({"messages": "hi", "filters": {"user_id": {"in": ["a", "b"]}}}).drafts()
    with pytest.raises(IdMissing):
        AddMemories.parse({"messages": "hi"}).drafts()


def test_questions_and_changes():
    question = SearchMemories.parse({"query": "tea", "limit": 900, "rerank": True, "threshold": 0.1}).question()
    assert (question.top_k, question.threshold) == (200, 0.1)
    assert UpdateMemory.parse({"data": "x", "metadata": {"a": 1}}).changes({"a": 0, "b": 2}).given() == {
        "content": "x",
        "extra": {"a": 1, "b": 2},
    }
    with pytest.raises(Invalid):
        UpdateMemory.parse({"timestamp": None}).changes({})


def test_a_history():
    kept = [
        Kept(1, ["importance"], {"content": "a"}, NOON),
        Kept(2, ["content"], {"content": "a"}, NOON),
        Kept(3, ["archived"], {"content": "b", "archived_at": None}, NOON),
        Kept(4, ["archived"], {"content": "b", "archived_at": "2026"}, NOON),
    ]
    turns = [(turn.event, turn.old, turn.new) for turn in history_of(kept, "b", NOON)]
    assert turns == [("ADD", None, "a"), ("UPDATE", "a", "b"), ("DELETE", "b", None)]

"""A file of conversations as drafts."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from memories.rules.conversations import ConversationsUnreadable, ImportChoices, drafts_of, read_conversations
from memories.rules.vocabulary import MemoryCategory, MemoryType, Role, SourceKind

TURN = {"id": "D1:1", "session": 1, "when": "2026-03-02T18:30:00", "speaker": "Noor", "text": "The kiln is fixed!"}


def document(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"source": "by hand", "conversations": [{"id": "c1", "speakers": ["Noor"], "memories": list(turns), **more}]}


def test_a_turn_becomes_a_memory():
    (draft,) = drafts_of(read_conversations(document(TURN)), ImportChoices())
    assert draft.content == "Noor: The kiln is fixed!"
    assert (draft.type, draft.category, draft.role) == (MemoryType.EPISODIC, MemoryCategory.EPISODIC, Role.HUMAN)
    assert (draft.session_id, draft.user_id, draft.external_write_id) == ("c1:1", "c1", "c1:D1:1")
    assert draft.event_at == dt.datetime(2026, 3, 2, 18, 30, tzinfo=dt.UTC)
    assert (draft.entities, draft.source_kind, draft.dedup, draft.bank) == (["Noor"], SourceKind.IMPORT, False, None)


def test_a_shared_picture_is_part_of_what_was_said():
    (draft,) = drafts_of(read_conversations(document({**TURN, "caption": "a blue bowl"})), ImportChoices())
    assert draft.content == "Noor: The kiln is fixed! [shares a blue bowl]"


@pytest.mark.parametrize(("speaker", "role"), [("User", Role.HUMAN), ("Assistant", Role.AI), ("Noor", Role.HUMAN)])
def test_only_an_assistant_is_one(speaker: str, role: Role):
    (draft,) = drafts_of(read_conversations(document({**TURN, "speaker": speaker})), ImportChoices())
    assert draft.role == role


def test_a_turn_longer_than_a_memory_is_cut():
    (draft,) = drafts_of(read_conversations(document({**TURN, "text": "word " * 30_000})), ImportChoices())
    assert 99_990 <= len(draft.content) <= 100_000


def test_choices_are_passed_on():
    (draft,) = drafts_of(read_conversations(document(TURN)), ImportChoices(bank="Events", dedup=True))
    assert (draft.bank, draft.dedup) == ("Events", True)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ([], "the whole file"),
        (None, "the whole file"),
        ({}, "/conversations, field required"),
        ({"conversations": []}, "/conversations"),
        ({"conversations": "none"}, "/conversations"),
        ({"conversations": [{"memories": []}]}, "/conversations/0/id"),
        (document({**TURN, "when": "yesterday"}), "/conversations/0/memories/0/when"),
        (document({**TURN, "text": None}), "/conversations/0/memories/0/text"),
        (document({**TURN, "speaker": ""}), "/conversations/0/memories/0/speaker"),
        (document({key: value for key, value in TURN.items() if key != "id"}), "/conversations/0/memories/0/id"),
        (document(TURN, TURN), "names the turn c1:D1:1 twice"),
    ],
)
def test_a_bad_file_is_one_sentence_that_says_where(file: Any, says: str):
    with pytest.raises(ConversationsUnreadable, match=says) as caught:
        read_conversations(file)
    assert "\n" not in caught.value.message
    assert "kiln" not in caught.value.message

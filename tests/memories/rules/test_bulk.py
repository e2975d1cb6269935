"""What becomes of each memory in a bulk change, and what cannot be asked for."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.bulk import BulkAction, BulkChange, Given, Skip, Subject, change_of
from memories.rules.vocabulary import Status
from memoryhub.lib.errors import Invalid

ID = "01a1fdf4-2f67-7435-b7d0-7abfca36a300"
PLAIN = Subject(Status.ACCEPTED, tags=["a", "b"])


@pytest.mark.parametrize(
    ("subject", "action", "value", "outcome"),
    [
        (PLAIN, "archive", None, {"archived": True}),
        (Subject(Status.ACCEPTED, protected=True), "archive", None, Skip.PROTECTED),
        (Subject(Status.ACCEPTED, protected=True, archived=True), "archive", None, {"archived": True}),
        (Subject(Status.ACCEPTED, archived=True), "restore", None, {"archived": False}),
        (Subject(Status.ACCEPTED, archived=True, superseded=True), "restore", None, Skip.SUPERSEDED),
        (Subject(Status.DRAFT), "accept", None, {"status": "accepted"}),
        (Subject(Status.DRAFT, has_promises=True), "accept", None, Skip.REPLACES_ANOTHER),
        (Subject(Status.DRAFT, has_promises=True), "discard", None, {"status": "discard"}),
        (PLAIN, "accept", None, {}),
        (Subject(Status.DISCARD), "accept", None, Skip.STATUS_MOVE),
        (PLAIN, "discard", None, {"status": "discard"}),
        (Subject(Status.ACCEPTED, protected=True), "discard", None, Skip.PROTECTED),
        (PLAIN, "add_tags", ["b", "c"], {"tags": ["a", "b", "c"]}),
        (Subject(Status.ACCEPTED, tags=[str(n) for n in range(32)]), "add_tags", ["x"], Skip.TOO_MANY_TAGS),
        (PLAIN, "remove_tags", ["a", "x"], {"tags": ["b"]}),
        (PLAIN, "protect", None, {"is_protected": True}),
        (PLAIN, "unprotect", None, {"is_protected": False}),
        (PLAIN, "move_bank", ID, {"bank_id": ID}),
        (PLAIN, "set_importance", 5, {"importance": 5}),
        (PLAIN, "set_category", None, {"category": None}),
    ],
)
def test_what_becomes_of_a_memory(subject: Subject, action: str, value: Any, outcome: Any):
    """CLN-10: protected ones are left alone; a decided status does not move again (STA-07)."""
    assert change_of(subject, Given(BulkAction(action), value)) == outcome


@pytest.mark.parametrize(
    "sent",
    [
        {"action": "archive"},
        {"action": "archive", "ids": []},
        {"action": "archive", "ids": [ID], "query": {}},
        {"action": "archive", "query": {"q": "x"}},
        {"action": "move_bank", "ids": [ID]},
        {"action": "move_bank", "ids": [ID], "bank": None},
        {"action": "add_tags", "ids": [ID], "tags": []},
        {"action": "set_importance", "ids": [ID], "importance": 6},
        {"action": "set_category", "ids": [ID]},
        {"action": "erase", "ids": [ID]},
        {"action": "archive", "ids": [ID] * 501},
        {"action": "archive", "query": {}, "expected_count": -1},
    ],
)
def test_what_cannot_be_meant_is_refused(sent: dict[str, Any]):
    with pytest.raises(Invalid):
        BulkChange.parse(sent)


def test_a_category_may_be_taken_away():
    assert BulkChange.parse({"action": "set_category", "ids": [ID], "category": None}).category is None

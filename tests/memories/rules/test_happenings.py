"""What a change is called."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memories.events import EventType
from memories.rules.happenings import name_of_change, named

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("action", "changed", "name"),
    [
        ("update_memory", {"content": "b"}, "memory.updated"),
        ("supersede_memory", {"superseded_by_id": "x", "archived_at": "t"}, "memory.superseded"),
        ("archive_memory", {"archived_at": "t", "archived_reason": "r"}, "memory.archived"),
        ("restore_memory", {"archived_at": None, "superseded_by_id": None}, "memory.restored"),
        ("change_status", {"status": "accepted"}, "memory.status_changed"),
        ("undo_changeset", {"importance": 3}, "memory.restored"),
        ("undo_changeset", {"archived_at": "t"}, "memory.archived"),
    ],
)
def test_the_name_of_a_change(action, changed, name):
    """CON-27: one name, the one a listener must not miss."""
    assert name_of_change(action, changed) == name


def test_names_and_families():
    """CON-27: exact names, whole families, and what is neither."""
    assert named(["memory.added"]) == (frozenset({EventType.MEMORY_ADDED}), [])
    assert {one.value for one in named(["guard.*"])[0]} == {"guard.activated", "guard.recovered", "guard.reset"}
    assert named(["memory", "*", "memory.*.*"])[1] == ["memory", "*", "memory.*.*"]


def test_names_said_elsewhere_are_known():
    """`banks` lies below the list of names, so it says them by hand."""
    said = {
        name for path in (ROOT / "banks").rglob("*.py") for name in re.findall(r'event="([a-z._]+)"', path.read_text())
    }
    assert said == {"key.created", "key.rotated", "key.revoked"}
    assert said <= set(EventType)

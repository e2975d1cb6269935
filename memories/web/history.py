"""The history of one memory as people read it: who changed what, with the words that came and went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from memories.web.forms import spoken
from memories.web.rows import opened
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.crypto import CryptoError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

    from memories.models import Memory, Revision
    from memories.web.actors import People

WHAT = {
    "update_memory": "Edited",
    "restore_version": "Went back",
    "archive_memory": "Archived",
    "restore_memory": "Restored",
    "change_status": "Reviewed",
    "reject_drafts": "Rejected",
    "undo_changeset": "Taken back",
    "merge_pair": "Merged",
    "supersede_memory": "Replaced",
    "write_memory": "Written again",
}
# Said by the action's own name already, or by the text's diff.
_NOT_LABELS = {"content", "archived", "archived_reason", "superseded_by"}


@dataclass(frozen=True, slots=True)
class Label:
    """One label before and after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One step of the history."""

    what: str
    who: str
    at: dt.datetime
    version: int
    version_before: int
    reason: str = ""
    pieces: list[Piece] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    unreadable: bool = False
    restore_url: str = ""
    changeset_url: str = ""


def history_of(
    memory: Memory, revisions: Sequence[Revision], people: People, banks: Mapping[str, str]
) -> list[ChangeLine]:
    """The changes, newest first; ``banks`` names banks by id. What one revision became is what the next one held.

    Where a version between two is not to be seen, what became of the older one is not to be seen either.
    """
    after: dict[str, Any] | None = values_now(memory)
    lines, shown = [], memory.version
    for revision in revisions:
        before = values_before(revision)
        names = people.actor((revision.actor_kind, revision.actor_id))
        is_next = revision.version + 1 == shown
        lines.append(_line(revision, names, (before, after if is_next else None), banks))
        after, shown = before, revision.version
    return lines


def _line(
    revision: Revision,
    who: str,
    around: tuple[dict[str, Any] | None, dict[str, Any] | None],
    banks: Mapping[str, str],
) -> ChangeLine:
    before, after = around
    readable = before is not None and before.get("content") is not None
    return ChangeLine(
        what=WHAT.get(revision.action, spoken(revision.action)),
        who=who,
        at=revision.created_at,
        version=revision.version + 1,
        version_before=revision.version,
        reason=_reason(revision),
        pieces=_pieces(revision, before, after),
        labels=labels_between(before or {}, after or {}, revision.changed, banks) if before and after else [],
        unreadable=not readable,
        restore_url=reverse("restore_version", args=[revision.memory_id, revision.version]) if readable else "",
        changeset_url=reverse("changeset", args=[revision.changeset_id]) if revision.changeset_id else "",
    )


def _pieces(revision: Revision, before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[Piece]:
    old, new = (before or {}).get("content"), (after or {}).get("content")
    return word_diff(old, new) if "content" in revision.changed and old is not None and new is not None else []


def labels_between(
    before: Mapping[str, Any], after: Mapping[str, Any], names: Sequence[str], banks: Mapping[str, str]
) -> list[Label]:
    """The labels among ``names`` that differ, in words."""

    def said(values: Mapping[str, Any], name: str) -> str:
        value = values.get("bank_id" if name == "bank" else name)
        return banks.get(str(value), str(value)) if name == "bank" else in_words(value)

    found = (Label(spoken(name), said(before, name), said(after, name)) for name in names if name not in _NOT_LABELS)
    return [label for label in found if label.before != label.after]


def in_words(value: Any) -> str:
    """A label's value as a person would write it."""
    match value:
        case None | "" | [] | {}:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(str(item) for item in value)
        case _:
            return str(value)


_LABELS = (
    *("type", "bank_id", "category", "role", "status", "importance", "confidence", "entities", "tags"),
    *("fact_key", "extra", "is_protected", "user_id", "session_id", "task_id", "trust", "expires_at", "event_at"),
)


def values_now(memory: Memory) -> dict[str, Any]:
    """The memory as a revision would keep it."""
    values = {name: getattr(memory, name) for name in _LABELS}
    plain = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in values.items()}
    return {**plain, "content": opened(memory)}


def values_before(revision: Revision) -> dict[str, Any] | None:
    try:
        return dict(revision.before)
    except CryptoError:
        return None


def _reason(revision: Revision) -> str:
    try:
        return revision.reason or ""
    except CryptoError:
        return ""

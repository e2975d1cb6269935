"""Changesets in words: what was done, how it stands now, and what became of each memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memories.rules.undoing import Refusal
from memories.rules.vocabulary import ChangesetState
from memories.web.forms import spoken
from memories.web.history import Label, labels_between, values_before, values_now
from memories.web.rows import State
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.crypto import CryptoError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from memories.models import Changeset, ChangesetItem, Memory, Revision

#: Action → what was done, and its symbol.
DONE = {
    "bulk_archive": ("Archived", "archive"),
    "bulk_restore": ("Restored", "archive-restore"),
    "bulk_accept": ("Approved", "check"),
    "bulk_discard": ("Discarded", "ban"),
    "bulk_move_bank": ("Moved to another bank", "layers"),
    "bulk_add_tags": ("Tagged", "tag"),
    "bulk_remove_tags": ("Untagged", "tag"),
    "bulk_set_importance": ("Importance set", "star"),
    "bulk_set_category": ("Category set", "tag"),
    "bulk_protect": ("Protected", "shield"),
    "bulk_unprotect": ("Unprotected", "shield-off"),
    "archive_memories": ("Archived", "archive"),
    "cleanup_memories": ("Cleaned up", "brush-cleaning"),
    "apply_plan": ("Cleaned up", "brush-cleaning"),
    "apply_cleanup": ("Cleaned up", "brush-cleaning"),
    "prune_memories": ("Archived to keep a limit", "archive"),
    "reject_drafts": ("Rejected in review", "ban"),
    "resolve_pair": ("Decided about two that were alike", "check"),
    "merge_pair": ("Merged", "layers"),
    "summarize_memories": ("Summarised", "layers"),
    "import_vault": ("Imported", "upload"),
}
#: What an import brings beside memories, one and several.
BROUGHT = {
    "bank": ("bank", "banks"),
    "session": ("conversation", "conversations"),
    "message": ("message", "messages"),
    "link": ("link", "links"),
}
STANDS = State("In force", "circle-check", "ok")
STATES = {
    ChangesetState.APPLIED: STANDS,
    ChangesetState.PARTIAL: State("Partly undone", "undo-2", "note"),
    ChangesetState.UNDONE: State("Undone", "undo-2", faded=True),
}
UNDONE = State("Undone", "undo-2", faded=True)
LEFT = {
    Refusal.CHANGED_SINCE: State("Edited since, left as it is", "pencil", "warn"),
    Refusal.DUPLICATE_CONTENT: State("Another memory says the same now", "layers", "warn"),
    Refusal.VERSION_UNREADABLE: State("Cannot be opened any more", "file-lock", "bad"),
    Refusal.SUPERSEDES_ITSELF: State("Its successor was replaced by it", "replace", "warn"),
}


def title_of(changeset: Changeset) -> str:
    """``Archived``, ``Moved to another bank``."""
    return DONE.get(changeset.action, (spoken(changeset.action), ""))[0]


def icon_of(changeset: Changeset) -> str:
    """The symbol of what was done."""
    return DONE.get(changeset.action, ("", "history"))[1]


def staying_words(counts: Mapping[str, int]) -> str:
    """``2 conversations and 31 messages``; empty where there is nothing."""
    said = [f"{counts[kind]:,} {words[counts[kind] != 1]}" for kind, words in BROUGHT.items() if counts.get(kind)]
    return " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]]))


def spoken_reason(reason: str) -> str:
    """A reason as a person reads it; the hub's own name rules in its words (``clean-up: low_stale``)."""
    return reason.replace("_", " ") if reason.startswith(("clean-up:", "pruned:")) else reason


def state_of_item(item: ChangesetItem) -> State:
    """How one memory stands: as changed, undone, or left alone by an undo and why."""
    if item.undone_at is not None:
        return UNDONE
    if not item.refused:
        return STANDS
    known = item.refused in set(Refusal)
    return LEFT[Refusal(item.refused)] if known else State(spoken(item.refused), "ban", "warn")


@dataclass(frozen=True, slots=True)
class Turn:
    """What a change made of one memory: labels before and after, the words that came and went."""

    created: bool = False
    labels: list[Label] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    said: str = ""


def turn_of(item: ChangesetItem, kept: Mapping[tuple[UUID, int], Revision], banks: Mapping[str, str]) -> Turn:
    """From the versions kept around it; nothing where they are not kept or not to be seen."""
    if item.version_before == 0:
        return Turn(created=True)
    first, then = (kept.get((item.memory_id, at)) for at in (item.version_before, item.version_after))
    before = values_before(first) if first else None
    if first is None or before is None:
        return Turn()
    is_newest = item.memory.version == item.version_after
    after = _now(item.memory) if is_newest else values_before(then) if then else None
    if after is None:
        return Turn()
    old, new = before.get("content"), after.get("content")
    return Turn(
        labels=labels_between(before, after, first.changed, banks),
        pieces=word_diff(old, new) if "content" in first.changed and old is not None and new is not None else [],
        said=_archival(before, after),
    )


def _now(memory: Memory) -> dict[str, Any]:
    try:
        reason = memory.archived_reason
    except CryptoError:
        reason = None
    return {**values_now(memory), "archived_at": memory.archived_at, "archived_reason": reason}


def _archival(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    was, now_is = before.get("archived_at"), after.get("archived_at")
    if was is None and now_is is not None:
        reason = after.get("archived_reason")
        return f"Archived: {spoken_reason(str(reason))}" if reason else "Archived"
    return "Restored" if was is not None and now_is is None else ""

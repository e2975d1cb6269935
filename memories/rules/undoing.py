"""What an undo may take back, and what it leaves as it is and lists instead (DESIGN §6, ux §2.6)."""

from __future__ import annotations

from enum import StrEnum

from memories.rules.vocabulary import ChangesetState

#: So many memories are taken back at once and in one transaction; more are work for a job.
AT_ONCE = 500


class Refusal(StrEnum):
    """Why a memory stays as it is; the codes of the errors a single change would raise."""

    CHANGED_SINCE = "changed_since"
    DUPLICATE_CONTENT = "duplicate_content"
    VERSION_UNREADABLE = "version_unreadable"
    SUPERSEDES_ITSELF = "supersedes_itself"


def refusal(version: int, version_after: int, *, is_kept: bool = True, is_readable: bool = True) -> Refusal | None:
    """Why a memory at ``version`` cannot go back to what it was before it reached ``version_after``; None: it can.

    ``is_kept``: its revisions are there; ``is_readable``: the values they hold can be opened.
    """
    if version != version_after:
        return Refusal.CHANGED_SINCE
    return None if is_kept and is_readable else Refusal.VERSION_UNREADABLE


def state_after(undone: int, left: int) -> ChangesetState:
    """The state of a changeset of which ``undone`` memories were ever taken back and ``left`` stand as changed."""
    if not left:
        return ChangesetState.UNDONE
    return ChangesetState.PARTIAL if undone else ChangesetState.APPLIED

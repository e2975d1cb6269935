"""The few moves a memory's status may make (STA-05, STA-07)."""

from __future__ import annotations

from collections.abc import Mapping

from memories.rules.vocabulary import Status
from memoryhub.lib.errors import Conflict

MOVES: Mapping[Status, frozenset[Status]] = {
    Status.DRAFT: frozenset({Status.ACCEPTED, Status.DISCARD}),
    Status.ACCEPTED: frozenset({Status.DISCARD}),
    Status.DISCARD: frozenset(),
}


class StatusMoveRefused(Conflict):
    """A memory's status cannot move like that; a draft is accepted or discarded, an accepted memory discarded."""

    code = "status_move"


def may_move(current: Status, new: Status) -> bool:
    """Whether the status may become `new`; staying what it is is no move."""
    return new in MOVES[current]


def check_move(current: Status, new: Status) -> None:
    """Raises StatusMoveRefused unless the move is allowed."""
    if not may_move(current, new):
        raise StatusMoveRefused(f"A memory that is {current.value} cannot become {new.value}.")

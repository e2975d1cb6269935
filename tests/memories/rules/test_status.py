"""The whole matrix of status moves (STA-01, STA-05, STA-07)."""

from __future__ import annotations

import itertools

import pytest

from memories.rules.status import StatusMoveRefused, check_move, may_move
from memories.rules.vocabulary import Status

ALLOWED = {(Status.DRAFT, Status.ACCEPTED), (Status.DRAFT, Status.DISCARD), (Status.ACCEPTED, Status.DISCARD)}


@pytest.mark.parametrize(("current", "new"), list(itertools.product(Status, Status)))
def test_moves(current: Status, new: Status):
    """STA-07: three moves and no other, staying the same included."""
    assert may_move(current, new) is ((current, new) in ALLOWED)
    if (current, new) in ALLOWED:
        check_move(current, new)
    else:
        with pytest.raises(StatusMoveRefused, match=f"{current.value} cannot become {new.value}"):
            check_move(current, new)

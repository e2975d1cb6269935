"""What an undo may take back."""

from __future__ import annotations

import pytest

from memories.rules.undoing import Refusal, refusal, state_after
from memories.rules.vocabulary import ChangesetState


@pytest.mark.parametrize(
    "version, is_kept, is_readable, expected",
    [
        (2, True, True, None),
        (3, True, True, Refusal.CHANGED_SINCE),
        (3, False, False, Refusal.CHANGED_SINCE),
        (2, False, True, Refusal.VERSION_UNREADABLE),
        (2, True, False, Refusal.VERSION_UNREADABLE),
    ],
)
def test_only_what_nobody_touched_since_goes_back(version, is_kept, is_readable, expected):
    """MOD-47: a later edit is never clobbered."""
    assert refusal(version, 2, is_kept=is_kept, is_readable=is_readable) == expected


@pytest.mark.parametrize(
    "undone, left, expected",
    [
        (0, 3, ChangesetState.APPLIED),
        (1, 2, ChangesetState.PARTIAL),
        (3, 0, ChangesetState.UNDONE),
        (0, 0, ChangesetState.UNDONE),
    ],
)
def test_the_state_follows_from_what_is_left(undone, left, expected):
    assert state_after(undone, left) == expected

"""How many made-up requests there are in all: each file keeps its share, and here the shares are added up."""

from __future__ import annotations

from collections import Counter

from tests import described
from tests.promises.fuzzing import PROMISED, SHARES, operations_of


def test_the_shares_are_what_is_promised_and_leave_nothing_out():
    """Ten thousand in a slow run; every operation in exactly one of them."""
    assert sum(SHARES.values()) >= PROMISED
    tried = Counter(name for tags in SHARES for name in operations_of(*tags))
    assert tried == Counter(dict.fromkeys(described.operations(), 1))

"""Made-up requests to the routes that keep a vault in order."""

from __future__ import annotations

import pytest

from tests.promises.fuzzing import Ground, operations_of

pytestmark = pytest.mark.slow


def test_answers_are_as_described(ground: Ground, subtests: pytest.Subtests):
    for name in operations_of("review", "relations", "clean-up", "summaries"):
        with subtests.test(name):
            ground.try_out(name)
    ground.check_how_much_was_tried()

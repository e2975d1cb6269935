"""Made-up requests to the routes of memories."""

from __future__ import annotations

import pytest

from tests.promises.fuzzing import Ground

pytestmark = pytest.mark.slow


def test_answers_are_as_described(ground: Ground, subtests: pytest.Subtests):
    ground.try_out_all(("memories",), subtests)

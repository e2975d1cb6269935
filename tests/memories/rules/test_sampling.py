"""When counts are exact, and what a sample may claim."""

from __future__ import annotations

import pytest

from memories.rules.sampling import EXACT_MANY_MAX, EXACT_MAX, SAMPLE, sampling_of


@pytest.mark.parametrize(
    ("memories", "is_many", "step"),
    [
        (0, False, 1),
        (EXACT_MAX, False, 1),
        (EXACT_MAX + 1, False, 11),
        (1_000_000, False, 50),
        (EXACT_MANY_MAX, True, 1),
        (100_000, True, 5),
    ],
)
def test_the_size_of_the_vault_decides(memories: int, is_many: bool, step: int):
    sampling = sampling_of(memories, is_many)
    assert (sampling.step, sampling.is_exact) == (step, step == 1)
    assert memories / step <= SAMPLE or sampling.is_exact


@pytest.mark.parametrize(("count", "said"), [(0, 0), (50, 50), (450, 450), (123_450, 120_000), (126_000, 130_000)])
def test_an_approximate_count_claims_no_more_than_it_knows(count: int, said: int):
    assert sampling_of(1_000_000).rounded(count) == said
    assert sampling_of(10).rounded(count) == count

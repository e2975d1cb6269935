"""Where a vault moves to, what may be compared, and which data key comes next."""

from __future__ import annotations

import pytest

from memories.rules.datamigrations import SpaceName, next_data_key, target_of

LARGE, SMALL = SpaceName("wordllama", "l2_supercat_256", 256), SpaceName("wordllama", "l2_supercat_128", 128)
REMOTE, UNASKED = SpaceName("openai", "m", 8), SpaceName("openai", "m")


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        (LARGE, LARGE, True),
        (LARGE, SMALL, False),
        (REMOTE, UNASKED, True),
        (UNASKED, UNASKED, True),
        (REMOTE, SpaceName("openai", "m", 16), False),
        (REMOTE, SpaceName("openai", "n", 8), False),
        (SpaceName("other", "m", 8), REMOTE, False),
    ],
)
def test_only_vectors_of_one_geometry_are_compared(one: SpaceName, other: SpaceName, fits: bool):
    """DEG-13: provider, model and dimensions; dimensions nobody has asked for yet fit until they are known."""
    assert (one.fits(other), other.fits(one)) == (fits, fits)


@pytest.mark.parametrize(
    ("asked", "wanted", "target"),
    [
        (None, None, None),
        (None, REMOTE, REMOTE),
        ("wordllama/l2_supercat_128", REMOTE, SMALL),
        (" openai/m ", None, REMOTE),
        ("openai/other", REMOTE, None),
        ("", REMOTE, None),
    ],
)
def test_the_target_is_what_is_named_or_else_what_is_configured(
    asked: str | None, wanted: SpaceName | None, target: SpaceName | None
):
    assert target_of(asked, [REMOTE, LARGE, SMALL], wanted) == target


@pytest.mark.parametrize(
    ("versions", "following"),
    [([1], 2), ([0, 2], 3), ([0, 1, 2], None), ([1, 2], None), ([0, 7], 8)],
)
def test_an_unfinished_reseal_goes_on_before_another_key_comes(versions: list[int], following: int | None):
    """ENC-18: two data keys at once mean that one is still being left; the roots count as none."""
    assert next_data_key(versions, 0) == following

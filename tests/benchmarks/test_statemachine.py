"""Whatever happens to memories in whatever order, every read path shows what a simple model expects."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memories.management.bench import world
from memories.management.bench.statemachine import LENGTH, Walk, take_walk, walk_of
from memories.management.bench.world import STEPS, Difference

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
#: What fits into a minute or two; ``manage.py bench statemachine --runs 2000`` takes more, and shortens what fails.
WALKS = 20
STEP = st.tuples(st.sampled_from(STEPS), st.integers(0, 999_999))


#: Without shrinking, which would take minutes; the bench shortens a failing walk by itself.
QUICKLY = settings(max_examples=WALKS, deadline=None, derandomize=True, phases=[Phase.generate])


@settings(QUICKLY, suppress_health_check=list(HealthCheck))
@given(st.lists(STEP, min_size=LENGTH, max_size=LENGTH))
def test_hub_and_model_never_differ(walk: Walk):
    """Write, edit, supersede, archive, clean up, undo and erase in any order; the erased and the archived
    come back from no read path."""
    take_walk(walk)


def test_a_walk_is_the_same_for_the_same_seed():
    assert walk_of(7) == walk_of(7)
    assert walk_of(7) != walk_of(8)
    assert take_walk(walk_of(7)) == take_walk(walk_of(7))


def test_a_read_path_that_shows_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch):
    """The model can fail: a step that forgets to tell it what was erased is a difference."""
    monkeypatch.setattr(world, "erase_memory", lambda *args: None)
    with pytest.raises(Difference):
        take_walk([("write", 1), ("erase", 1), ("look", 1)])

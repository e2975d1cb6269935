"""Golden rankings of a small table of candidates: exact order and exact contributions, for both profiles (SRC-08)."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest

from memories.rules.fusion import normalised_sum, reciprocal_ranks
from memories.rules.reranking import Manner
from memories.search.ranking import Circumstances, Fused, ranked

NAN = float("nan")
A, B, C, D = (UUID(int=number) for number in range(1, 5))
EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def around(ages=(0, 0, 0, 0), importance=(3, 3, 3, 3), confidence=(3, 3, 3, 3), vectors=(EAST, EAST, EAST, NORTH)):
    days, important, sure = (np.array(values, np.float64) for values in (ages, importance, confidence))
    return Circumstances(days, important, sure, np.array(vectors, np.float32))


def by_ranks():
    weights = {"semantic": 1.0, "keyword": 0.8, "graph": 0.6}
    legs = {
        "semantic": np.array([0.9, 0.8, NAN, 0.5]),
        "keyword": np.array([NAN, 4.0, 9.0, NAN]),
        "graph": np.array([NAN, NAN, NAN, 0.01]),
    }
    return Fused([A, B, C, D], legs, reciprocal_ranks(legs, weights), weights)


def by_shares(memories=(A, B, C, D)):
    weights = {"keyword": 0.5, "semantic": 1.0}
    legs = {"keyword": np.array([4.0, 0.0, 2.0, 1.0]), "semantic": np.array([0.2, 0.8, 0.4, -0.1])}
    return Fused(list(memories), legs, normalised_sum(legs, weights), weights)


def added(ranking, place):
    return {name: leg.contribution for name, leg in ranking.explain(place).items()}


def test_golden_order_of_profile_seed():
    """SRC-05…08, CON-14: reciprocal ranks, then age with its floor, then variety over everything that is alike."""
    manner = Manner(half_life=30, floor=0.3, balance=0.7)
    ranking = ranked(by_ranks(), around(ages=(0, 30, 0, 3650)), manner)
    assert ranking.memories == [A, D, B, C]
    fused = [1 / 61, 1 / 63 + 0.6 / 61, 0.8 / 61, 1 / 62 + 0.8 / 62]
    assert ranking.scores == pytest.approx([fused[0], fused[1] * 0.3, fused[3] * 0.5, fused[2]], rel=1e-15)
    assert added(ranking, 1) == pytest.approx(
        {"semantic": 1 / 63, "graph": 0.6 / 61, "decay": -0.7 * fused[1]}, rel=1e-15
    )
    held_against = [ranking.explain(place).get("variety") for place in range(4)]
    assert [leg and pytest.approx(leg.score) for leg in held_against] == [None, None, 0.3, 0.3]


def test_golden_order_of_profile_balanced():
    """SRC-12, CON-14: shares of each leg's best, weighted and summed; nothing else among ordinary memories."""
    ranking = ranked(by_shares(), around(vectors=(EAST, NORTH, EAST, NORTH)), Manner())
    assert ranking.memories == [B, A, C, D]
    assert ranking.scores == [1.0, 0.5 + 0.25, 0.25 + 0.5, 0.125]
    assert added(ranking, 1) == {"keyword": 0.5, "semantic": 0.25}
    assert added(ranking, 3) == {"keyword": 0.125, "semantic": 0.0}


def test_equal_scores_stand_in_the_order_of_their_ids():
    ranking = ranked(by_shares((D, C, B, A)), around(), Manner())
    assert ranking.memories == [C, B, D, A]


def test_golden_boosts():
    """DESIGN §5.5: among equals the more important and the surer come first, and the hit says by how much."""
    manner = Manner(importance=0.1, confidence=0.05)
    ranking = ranked(by_shares(), around(importance=(1, 3, 5, 3), confidence=(3, 1, 3, 5)), manner)
    assert ranking.memories == [B, C, A, D]
    assert ranking.scores == pytest.approx([0.95, 0.75 * 1.1, 0.75 * 0.9, 0.125 * 1.05], rel=1e-15)
    assert added(ranking, 1) == pytest.approx({"keyword": 0.25, "semantic": 0.5, "importance": 0.075}, rel=1e-12)
    assert ranking.explain(1)["importance"].score == 1.1
    assert "confidence" not in ranking.explain(1)


def test_a_memory_stands_where_its_best_unit_stands():
    """CON-07: the explanation is of that unit."""
    ranking = ranked(by_shares((A, A, B, B)), around(), Manner())
    assert ranking.memories == [A, B]
    assert added(ranking, 0) == {"semantic": 1.0}
    assert added(ranking, 1) == {"keyword": 0.25, "semantic": 0.5}


def test_what_nothing_speaks_for_is_left_out():
    legs = {"keyword": np.array([1.0, 0.0]), "semantic": np.array([0.0, NAN])}
    weights = {"keyword": 1.0, "semantic": 1.0}
    fused = Fused([A, B], legs, normalised_sum(legs, weights), weights)
    table = Circumstances(np.zeros(2), np.full(2, 3.0), np.full(2, 3.0), np.zeros((2, 0), np.float32))
    assert ranked(fused, table, Manner(balance=0.5)).memories == [A]


def test_near_identical_memories_do_not_fill_the_first_places():
    """SRC-07: of twelve copies one stands on top; the others come after what differs, and say why."""
    copies, others = 12, 9
    memories = [UUID(int=number) for number in range(1, copies + others + 1)]
    legs = {"semantic": np.array([1.0] * copies + [0.8 - 0.01 * n for n in range(others)])}
    fused = Fused(memories, legs, normalised_sum(legs, {"semantic": 1.0}), {"semantic": 1.0})
    vectors = np.eye(others + 1, dtype=np.float32)[[0] * copies + list(range(1, others + 1))]
    plain = np.full(copies + others, 3.0)
    table = Circumstances(np.zeros(copies + others), plain, plain, vectors)
    ranking = ranked(fused, table, Manner(balance=0.7, alike_from=0.95))
    assert ranking.memories[:10] == [memories[0], *memories[copies:]]
    assert ranking.explain(10)["variety"].score == pytest.approx(0.3)
    assert len(ranking.memories) == copies + others


@pytest.mark.parametrize("manner", [Manner(), Manner(30, 0.3, 0.1, 0.05, 0.7, 0.5), Manner(1, 0, 1, 1, 0, 0)])
@pytest.mark.parametrize("fused", [by_ranks(), by_shares()], ids=["ranks", "shares"])
def test_contributions_add_up(fused, manner):
    """SRC-16: at full precision, whatever is switched on."""
    ranking = ranked(fused, around((0, 3, 90, 9000), (1, 2, 4, 5), (5, 4, 2, 1)), manner)
    for place, score in enumerate(ranking.scores):
        assert sum(added(ranking, place).values()) == pytest.approx(score, rel=1e-12)

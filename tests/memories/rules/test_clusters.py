"""Which memories become a cluster: by meaning, by labels, and by both."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from memories.rules.cells import CELL_MAX, Vectors
from memories.rules.clusters import ClusterRule, Strategy, find_clusters, labels_of

NONE = frozenset[str]()
RULE = ClusterRule(strategy=Strategy.EMBEDDINGS)


def at_angles(*degrees: float) -> Vectors:
    """Unit vectors in a plane; 45° apart is a cosine of 0.71, 46° of 0.69."""
    turned = [math.radians(each) for each in degrees]
    return np.array([[math.cos(each), math.sin(each)] for each in turned], dtype=np.float32)


def places(rule: ClusterRule, vectors: Vectors | None, labels: list[frozenset[str]] | None = None) -> list[list[int]]:
    count = len(labels) if labels is not None else len(vectors) if vectors is not None else 0
    return [list(one.places) for one in find_clusters(rule, labels or [NONE] * count, vectors)]


@pytest.mark.parametrize(
    ("degrees", "found"),
    [
        ((0, 10, 20), [[0, 1, 2]]),
        ((0, 10), []),
        ((0, 10, 90), []),
        ((0, 90, 10, 100, 20, 110), [[0, 2, 4], [1, 3, 5]]),
        ((0, 1, 2, 3, 4, 5, 6, 7), [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ((0, 22, 45), [[0, 1, 2]]),
        ((0, 23, 46), []),
    ],
)
def test_by_meaning(degrees: tuple[float, ...], found: list[list[int]]):
    """CLU-04, CLU-06, CLU-07: every two members are similar, three at least."""
    assert places(RULE, at_angles(*degrees)) == found


def test_no_cluster_is_larger_than_allowed():
    """CLU-04: nine alike make eight and one that stays; of sixteen none stays."""
    assert [len(one) for one in places(RULE, at_angles(*range(9)))] == [8]
    assert [len(one) for one in places(RULE, at_angles(*range(16)))] == [8, 8]


def test_it_says_why():
    """The least and the mean cosine, and what labels are shared."""
    labels = [frozenset({"#tea", "#a"}), frozenset({"#tea"}), frozenset({"#a", "#tea"})]
    (found,) = find_clusters(replace(RULE, strategy=Strategy.HYBRID), labels, at_angles(0, 10, 20))
    assert found.least == pytest.approx(math.cos(math.radians(20)), abs=1e-4)
    assert found.mean == pytest.approx((2 * math.cos(math.radians(10)) + math.cos(math.radians(20))) / 3, abs=1e-4)
    assert found.shared == ("#tea", "#a")


def test_hybrid_refines_what_meaning_found_by_labels():
    """CLU-09: labels that have nothing in common part what embeddings put together; no label stays with either."""
    tea, car = frozenset({"#tea"}), frozenset({"#car"})
    vectors = at_angles(0, 1, 2, 3, 4, 5)
    assert places(RULE, vectors, [tea, car, tea, car, tea, car]) == [[0, 1, 2, 3, 4, 5]]
    hybrid = replace(RULE, strategy=Strategy.HYBRID)
    assert places(hybrid, vectors, [tea, car, tea, car, tea, car]) == [[0, 2, 4], [1, 3, 5]]
    assert places(hybrid, at_angles(0, 1, 2), [tea, NONE, tea]) == [[0, 1, 2]]
    assert places(hybrid, at_angles(0, 1, 2), [NONE, NONE, NONE]) == [[0, 1, 2]]
    assert places(hybrid, at_angles(0, 90, 180), [tea, tea, tea]) == [], "embeddings come first"


def test_by_labels():
    """CLU-08: fact keys before tags, rare before common, each memory once."""
    rule = replace(RULE, strategy=Strategy.TAGS)
    home, tea, rare = labels_of("home", ["x"]), labels_of(None, ["x"]), labels_of(None, ["x", "rare"])
    assert places(rule, None, [home, tea, home, tea, home, tea]) == [[0, 2, 4], [1, 3, 5]]
    assert places(rule, None, [rare, tea, rare, tea, rare, tea]) == [[0, 2, 4], [1, 3, 5]]
    assert places(rule, None, [tea, tea]) == []
    assert places(rule, None, [NONE] * 5) == []


@pytest.mark.parametrize(("count", "sizes"), [(8, [8]), (9, [4, 5]), (17, [5, 6, 6]), (3, [3]), (24, [8, 8, 8])])
def test_a_common_label_is_parted_evenly_by_time(count: int, sizes: list[int]):
    found = places(replace(RULE, strategy=Strategy.TAGS), None, [frozenset({"#work"})] * count)
    assert [len(one) for one in found] == sizes
    assert list(chain.from_iterable(found)) == list(range(count))


def test_without_vectors():
    """DEG-02: the hybrid goes by labels; embeddings alone find nothing rather than anything."""
    tea = [frozenset({"#tea"})] * 3
    assert places(replace(RULE, strategy=Strategy.HYBRID), None, tea) == [[0, 1, 2]]
    assert places(RULE, None, tea) == []


def test_many_are_clustered_alike_every_time():
    """More than fit one cell: the same clusters again, nobody twice, and most of those that belong together."""
    random = np.random.default_rng(7)
    crowds = np.repeat(random.normal(size=(CELL_MAX // 2, 64)), 5, axis=0)
    vectors = (crowds + 0.2 * random.normal(size=crowds.shape)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = places(RULE, vectors)
    assert found == places(RULE, vectors)
    members = list(chain.from_iterable(found))
    assert len(members) == len(set(members))
    assert len(members) > 0.9 * len(vectors)
    assert all(len({place // 5 for place in one}) == 1 for one in found), "crowds do not mix"

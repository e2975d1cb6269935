"""Which old memories are about one thing, and so may become one summary (CLU-04…09).

Every cluster comes from one group; what a group is (one bank, user, agent and namespace) is not known here. Members of
a cluster are all similar to each other, not only to a common middle: a summary of a chain would be about two things.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

import numpy as np

from memories.rules.cells import CELL_MAX, Vectors, cells, neighbours

#: For every place in the largest cluster so many neighbours are looked at.
_LOOKED_AT = 4
#: The second look has its borders elsewhere, and sees what the first left over.
_CUTS = (0.5, 0.37)


class Strategy(StrEnum):
    """What makes memories a cluster (CLU-05)."""

    EMBEDDINGS = "embeddings"
    TAGS = "tags"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class ClusterRule:
    """``floor``: the least cosine between any two members, in the vectors' own space."""

    strategy: Strategy = Strategy.HYBRID
    floor: float = 0.7
    smallest: int = 3
    largest: int = 8


@dataclass(frozen=True, slots=True)
class Cluster:
    """Places in the group, oldest first, and why they are together."""

    places: tuple[int, ...]
    #: The least and the mean cosine between two of them; None when tags alone decided.
    least: float | None = None
    mean: float | None = None
    #: Labels that at least two of them share.
    shared: tuple[str, ...] = ()


type Labels = Sequence[frozenset[str]]


def labels_of(fact_key: str | None, tags: Iterable[str]) -> frozenset[str]:
    """By what memories match without meaning: their fact key and their tags."""
    keyed = {f"fact key {fact_key}"} if fact_key else set[str]()
    return frozenset(keyed | {f"#{tag}" for tag in tags})


def find_clusters(rule: ClusterRule, labels: Labels, vectors: Vectors | None) -> list[Cluster]:
    """The clusters of one group, each place in at most one; equal input gives equal clusters.

    ``labels`` and the unit ``vectors`` are in one order, oldest first. Without vectors tags decide, and embeddings
    alone find nothing.
    """
    if rule.strategy is Strategy.TAGS or vectors is None:
        found = [] if rule.strategy is Strategy.EMBEDDINGS else list(_by_label(rule, labels))
    else:
        refined = labels if rule.strategy is Strategy.HYBRID else [frozenset[str]()] * len(labels)
        found = list(_by_meaning(rule, refined, vectors))
    return sorted((_explained(one, labels) for one in found), key=lambda one: one.places)


def shared_labels(members: Labels) -> tuple[str, ...]:
    """The labels that at least two of them have, those of most first."""
    counted = Counter(label for held in members for label in held)
    shared = [label for label, count in counted.items() if count > 1]
    return tuple(sorted(shared, key=lambda label: (-counted[label], label)))


def _explained(one: Cluster, labels: Labels) -> Cluster:
    return replace(one, shared=shared_labels([labels[place] for place in one.places]))


def _by_label(rule: ClusterRule, labels: Labels) -> Iterator[Cluster]:
    """Fact keys before tags and rare labels before common ones: the rarer, the more two that share it have in common.

    What is left of a common label is parted by time, as evenly as the sizes allow.
    """
    holders = defaultdict[str, list[int]](list)
    for place, held in enumerate(labels):
        for label in held:
            holders[label].append(place)
    free = set(range(len(labels)))
    for _, label in sorted(((label.startswith("#"), len(held)), label) for label, held in holders.items()):
        left = [place for place in holders[label] if place in free]
        for part in _evenly(left, rule):
            free.difference_update(part)
            yield Cluster(tuple(part))


def _evenly(places: Sequence[int], rule: ClusterRule) -> Iterator[Sequence[int]]:
    parts = -(-len(places) // rule.largest)
    ends = [len(places) * part // parts for part in range(parts + 1)] if parts else []
    for start, end in pairwise(ends):
        if end - start >= rule.smallest:
            yield places[start:end]


def _by_meaning(rule: ClusterRule, labels: Labels, vectors: Vectors) -> Iterator[Cluster]:
    left = np.arange(len(vectors))
    for cut in _CUTS:
        taken = np.zeros(len(vectors), dtype=bool)
        for cell in cells(vectors if len(left) == len(vectors) else vectors[left], cut):
            places = left[cell]
            for one in _in_cell(rule, labels, vectors, places.tolist()):
                taken[list(one.places)] = True
                yield one
        was_whole, left = len(left) <= CELL_MAX, left[~taken[left]]
        if was_whole and not taken.any():
            return


def _in_cell(rule: ClusterRule, labels: Labels, vectors: Vectors, places: list[int]) -> Iterator[Cluster]:
    """The crowded first: whoever has most neighbours gathers its nearest, as long as all are similar to each other."""
    if len(places) < rule.smallest:
        return
    inside = vectors[places]
    near = neighbours(inside, rule.floor, _LOOKED_AT * rule.largest)
    free = [True] * len(places)
    for seed in np.argsort(-near.counts, kind="stable").tolist():
        if not free[seed] or near.counts[seed] + 1 < rule.smallest:
            continue
        offered = _refined(seed, [place for place in near.of(seed) if free[place]], labels, places)
        if len(offered) + 1 < rule.smallest:
            continue
        chosen = _alike([seed, *offered], inside, rule)
        if len(chosen) < rule.smallest:
            continue
        for place in chosen:
            free[place] = False
        yield _measured(sorted(places[place] for place in chosen), vectors)


def _refined(seed: int, offered: list[int], labels: Labels, places: list[int]) -> list[int]:
    """Hybrid: those that share a label come first, and those labelled with something else altogether are left out."""
    own = labels[places[seed]]
    if not own:
        return offered
    sharing = [place for place in offered if own & labels[places[place]]]
    return sharing + [place for place in offered if not labels[places[place]]]


def _alike(offered: list[int], inside: Vectors, rule: ClusterRule) -> list[int]:
    """The first of ``offered`` and those after it that are similar to all before."""
    fits = inside[offered] @ inside[offered].T >= rule.floor
    chosen = [0]
    for place in range(1, len(offered)):
        if len(chosen) == rule.largest:
            break
        if fits[place, chosen].all():
            chosen.append(place)
    return [offered[place] for place in chosen]


def _measured(members: list[int], vectors: Vectors) -> Cluster:
    cosines = vectors[members] @ vectors[members].T
    pairs = len(members) * (len(members) - 1)
    mean = (float(cosines.sum()) - float(cosines.trace())) / pairs
    return Cluster(tuple(members), round(float(cosines.min()), 4), round(mean, 4))

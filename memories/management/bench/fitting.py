"""Fits the weights of the profile ``balanced`` to conversations with known evidence.

Leave one conversation out: weights fitted on all others are judged on it, so that the figure says what strangers may
expect. What is printed at the end is fitted on all of them and belongs into ``rules/settings.py``, rounded.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from memories.management.bench.evidence import ADVERSARIAL, Asked, Examination
from memories.management.bench.quality import score_ranking
from memories.management.bench.rankers import query_of
from memories.rules.fusion import shares
from memories.rules.settings import Settings
from memories.search.balanced import weighed
from memories.search.recall import SearchAnswer, ask_legs, understand

#: What a step may do to a weight; small gains are noise and are not followed.
_STEPS = (0.7, 1.4)
_SHIFTS = (-0.2, 0.2)
_LEAST_GAIN = 0.0005
_ROUNDS = 4

type Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with its candidates: each unit's memory (as a number) and share in each leg, and the evidence."""

    file: str
    conversation: str
    category: str
    memories: NDArray[np.int64]
    shares: Mapping[str, NDArray[np.float64]]
    evidence: Collection[str]


def samples_of(examination: Examination) -> list[Sample]:
    """Every question with the features the real search sees."""
    return [sample for question in examination.questions if (sample := _sample(examination, question)) is not None]


def _sample(examination: Examination, question: Asked) -> Sample | None:
    understood = understand(question.access, query_of(question))
    if understood is None:
        return None
    pool, legs = weighed(understood, ask_legs(understood, SearchAnswer()))
    turns = [examination.turns[memory_id] for memory_id in pool.memories]
    numbers = {turn: number for number, turn in enumerate([*question.evidence, *dict.fromkeys(turns)])}
    names = {turn: number for turn, number in numbers.items() if turn in question.evidence}
    return Sample(
        file=examination.name,
        conversation=question.conversation,
        category=question.category,
        memories=np.array([numbers[turn] for turn in turns], np.int64),
        shares={name: shares(scores) for name, scores in legs.items()},
        evidence=frozenset(str(number) for number in names.values()),
    )


def fit(files: Sequence[Sequence[Sample]]) -> str:
    """A report: how weights fitted without a conversation do on it, and weights fitted on all."""
    samples = [sample for each in files for sample in each]
    start = {name: float(Settings.model_fields[f"{name}_weight"].default) for name in samples[0].shares}
    lines = [f"defaults: {_told(samples, start)}"]
    unseen: dict[int, dict[str, float]] = {}
    for conversation in dict.fromkeys(sample.conversation for sample in samples):
        rest = [sample for sample in samples if sample.conversation != conversation]
        weights = climb(rest, start)
        unseen |= {id(each): judge(each, weights) for each in samples if each.conversation == conversation}
    lines.append(f"left out: {_summary(samples, [unseen[id(each)] for each in samples])}")
    weights = climb(samples, start)
    lines += [f"fitted on all: {_told(samples, weights)}", *(f"  {name}: {value}" for name, value in weights.items())]
    return "\n".join(lines)


def climb(samples: Sequence[Sample], start: Weights) -> Weights:
    """Weights no single step of which does better, from ``start``; every file counts the same."""
    weights, best = dict(start), _goal(samples, start)
    for _ in range(_ROUNDS):
        before = best
        for name in weights:
            steps = [weights[name] * step for step in _STEPS] + [weights[name] + shift for shift in _SHIFTS] + [0.0]
            for value in steps:
                tried = {**weights, name: round(max(value, 0.0), 2)}
                if (goal := _goal(samples, tried)) > best + _LEAST_GAIN:
                    weights, best = tried, goal
        if best == before:
            break
    return weights


def judge(sample: Sample, weights: Weights) -> dict[str, float]:
    """The metrics of one question under these weights."""
    if not len(sample.memories):
        return score_ranking([], sample.evidence)
    scores = np.sum([weights[name] * share for name, share in sample.shares.items()], axis=0)
    first = sample.memories[np.argsort(-scores, kind="stable")]
    return score_ranking([str(number) for number in first[:200].tolist()], sample.evidence)


def _goal(samples: Sequence[Sample], weights: Weights) -> float:
    files: dict[str, list[float]] = {}
    for sample in samples:
        if sample.category != ADVERSARIAL:
            found = judge(sample, weights)
            files.setdefault(sample.file, []).append(found["recall@10"] + found["ndcg@10"])
    return math.fsum(fmean(values) for values in files.values()) / len(files)


def _told(samples: Sequence[Sample], weights: Weights) -> str:
    return _summary(samples, [judge(sample, weights) for sample in samples])


def _summary(samples: Sequence[Sample], found: Sequence[Mapping[str, float]]) -> str:
    groups: dict[str, list[Mapping[str, float]]] = {}
    for sample, scores in zip(samples, found, strict=True):
        name = f"{sample.file} {ADVERSARIAL}" if sample.category == ADVERSARIAL else sample.file
        groups.setdefault(name, []).append(scores)
    return ", ".join(
        f"{name} recall@10 {100 * fmean(row['recall@10'] for row in rows):.1f}"
        f" nDCG@10 {100 * fmean(row['ndcg@10'] for row in rows):.1f}"
        for name, rows in groups.items()
    )

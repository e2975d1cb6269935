"""How good a ranking is, measured turn by turn with evidence known: recall, nDCG, MRR with bootstrap intervals. Pure.

recall@k = share of the evidence among the first k; nDCG@10 with binary gains; MRR = 1 / rank of the first evidence
among the first 100. Means are over questions; questions without evidence are left out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from statistics import fmean

DEPTH = 100
METRICS = ("recall@5", "recall@10", "recall@20", "ndcg@10", "mrr")
_RESAMPLES = 2_000

type Scores = dict[str, float]


def score_ranking(ranked: Sequence[str], evidence: Collection[str]) -> Scores:
    """Metric → value, 0 to 1, for one question with evidence."""
    relevant, seen = set(evidence), list(dict.fromkeys(ranked))
    scores = {f"recall@{k}": len(relevant.intersection(seen[:k])) / len(relevant) for k in (5, 10, 20)}
    gained = math.fsum(1 / math.log2(rank + 2) for rank, turn in enumerate(seen[:10]) if turn in relevant)
    scores["ndcg@10"] = gained / math.fsum(1 / math.log2(rank + 2) for rank in range(min(len(relevant), 10)))
    scores["mrr"] = next((1 / rank for rank, turn in enumerate(seen[:DEPTH], 1) if turn in relevant), 0.0)
    return scores


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean."""
    dice, count = random.Random(seed), len(values)
    means = sorted(sum(dice.choices(values, k=count)) / count for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def as_row(rows: Sequence[Scores]) -> list[str]:
    """Each metric in per cent with its interval."""
    cells = []
    for metric in METRICS:
        values = [row[metric] for row in rows]
        low, high = interval(values)
        cells.append(f"{100 * fmean(values):.1f} [{100 * low:.1f}, {100 * high:.1f}]")
    return cells

"""``bench calibrate``: knots for the configured embedder's space, from labelled pairs (`memories.rules.calibration`).

The rungs of the ladder are placed where they let a fixed share of the pairs through that somebody must decide about.
Only half of the pairs is looked at; `bench dedup` reports on the other half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memories.management.bench.client import BenchFailed
from memories.management.bench.pairs import Label, Pair, halves, read_pairs
from memories.rules.calibration import own_cosine
from memoryhub.providers.base import Embedder
from memoryhub.providers.registry import get_embedder

#: Rung → (labels, the share of them that is to lie below it).
RUNGS = {
    0.75: ((Label.PARAPHRASE, Label.UPDATED), 0.16),
    0.80: ((Label.PARAPHRASE, Label.UPDATED), 0.19),
    0.92: ((Label.PARAPHRASE,), 0.20),
}


def calibrate() -> str:
    """The proposed knots, and how the cosines of each kind of pair lie. Raises BenchFailed without an embedder."""
    embedder = get_embedder()
    if embedder is None:
        raise BenchFailed("No embedder is configured, so there is nothing to calibrate.")
    fitted, _ = halves(read_pairs())
    cosines = cosines_of(embedder, fitted)
    lines = [f"{embedder.name} {embedder.model}: cosines of {len(fitted)} pairs, quantiles 5, 25, 50, 75, 95 %"]
    for label in Label:
        quantiles = np.quantile(cosines[[pair.label is label for pair in fitted]], (0.05, 0.25, 0.5, 0.75, 0.95))
        lines.append(f"  {label:<11}" + "  ".join(f"{value:6.3f}" for value in quantiles))
    lines.append("reference  proposed  in use")
    for rung, (labels, share) in RUNGS.items():
        proposed = float(np.quantile(cosines[[pair.label in labels for pair in fitted]], share))
        lines.append(f"  {rung:.2f}       {proposed:.3f}     {own_cosine(embedder.name, embedder.model, rung):.3f}")
    return "\n".join(lines)


def cosines_of(embedder: Embedder, pairs: list[Pair]) -> NDArray[np.float32]:
    """The space's own cosine of each pair."""
    older = embedder.embed([pair.older for pair in pairs])
    newer = embedder.embed([pair.newer for pair in pairs])
    return (older * newer).sum(axis=1)

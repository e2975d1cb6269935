"""A summary without a model: the sentences nearest to the middle of what was said (SUM, the extractive provider)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from memories.rules.tokens import estimate_tokens

type Vectors = NDArray[np.float32]
type Embed = Callable[[Sequence[str]], Vectors]

_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_SHORTEST, _LONGEST, _MOST = 12, 400, 2_000


def sentences_of(texts: Sequence[str]) -> list[str]:
    """What can stand in a summary, each once, in the order said: no scraps, nothing endless, and questions only where
    nothing else was said."""
    found = [" ".join(one.split()) for text in texts for one in _END.split(text)]
    fit = list(dict.fromkeys(one for one in found if _SHORTEST <= len(one) <= _LONGEST))[-_MOST:]
    return [one for one in fit if not one.endswith(("?", "？"))] or fit


def central_sentences(sentences: Sequence[str], tokens: int, embed: Embed | None) -> str:
    """The most central sentences that fit ``tokens``, in their order, one to a line.

    Without vectors their place decides: what was said first of all and last of all counts most. Sentences that say
    nearly the same are taken once.
    """
    vectors = embed(sentences) if embed is not None and sentences else None
    chosen: list[int] = []
    spent = 0
    for place in _ranked(len(sentences), vectors):
        cost = estimate_tokens(sentences[place]) + 1
        if spent + cost > tokens or _is_repeated(place, chosen, vectors):
            continue
        chosen.append(place)
        spent += cost
    return "\n".join(sentences[place] for place in sorted(chosen))


def _ranked(count: int, vectors: Vectors | None) -> list[int]:
    if vectors is None:
        return sorted(range(count), key=lambda place: min(place, count - 1 - place))
    centre = vectors.mean(axis=0)
    nearness = vectors @ (centre / (np.linalg.norm(centre) or 1.0))
    return [int(place) for place in np.argsort(-nearness, kind="stable")]


def _is_repeated(place: int, chosen: Sequence[int], vectors: Vectors | None) -> bool:
    return vectors is not None and any(float(vectors[place] @ vectors[other]) > 0.95 for other in chosen)

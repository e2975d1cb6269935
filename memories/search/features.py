"""What speaks for a candidate: every leg and feature of the profile ``balanced``, as one number per unit. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.rules.authors import is_first_person, only_named
from memories.rules.bm25 import K1, B
from memories.rules.fusion import Legs
from memories.rules.times import date_share, days_meant
from memories.rules.vocabulary import Role
from memories.search.pool import Pool
from memories.search.windows import Floats, Integers, Vectors, Windows, directions, windows_of

#: The mean of a small pool says little about what its members have in common; so many imagined others at 0 damp it.
IMAGINED_OTHERS = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A question in every form it is compared in; ``idf`` along the terms the pool was counted for."""

    text: str
    idf: Sequence[float]
    mean_length: float
    #: Its vector, rare words counting more; None without an embedder.
    vector: NDArray[np.float32] | None
    #: Whether the last column of the pool's counts, beyond the terms, is the mark of units that mention a time.
    asks_when: bool
    today: dt.date


def features(pool: Pool, question: Question) -> Legs:
    """Name of the setting's leg → one score per unit, all 0 where the question or the memories have nothing of it."""
    windows = windows_of(pool.chars, pool.joined)
    words = pool.counts[:, : len(question.idf)]
    idf = np.array(question.idf, np.float64)
    around, lengths = windows.sums(words), windows.sums(pool.lengths)
    typical = float(lengths.mean()) if len(pool) else 1.0
    return {
        "keyword": _bm25(words, pool.lengths, question.mean_length, idf),
        "keyword_window": _bm25(around, lengths, typical, idf),
        "coverage": (words > 0) @ idf,
        "semantic": _centred_cosines(pool.vectors, question.vector),
        "semantic_window": _around(windows, pool.vectors, question.vector),
        "date": _dates(pool.days, question),
        "time": pool.counts[:, -1] if question.asks_when else np.zeros(len(pool)),
        "author": _author(pool.entities, question.text),
        "first_person": _first_person(pool, question.text),
    }


def _bm25(counts: Floats, lengths: Floats, mean_length: float, idf: Floats) -> Floats:
    norm = K1 * (1 - B) + K1 * B * lengths / (mean_length or 1.0)
    scores: Floats = (counts / (counts + norm[:, None])) @ idf
    return scores


def _around(windows: Windows, vectors: Vectors, wanted: NDArray[np.float32] | None) -> Floats:
    if wanted is None or vectors.shape[1] != len(wanted):
        return np.zeros(len(vectors))
    return windows.cosines(vectors, wanted)


def _centred_cosines(vectors: Vectors, wanted: NDArray[np.float32] | None) -> Floats:
    """Cosines seen from the middle of the pool: what all candidates have in common tells none of them apart."""
    if wanted is None or vectors.shape[1] != len(wanted):
        return np.zeros(len(vectors))
    squares = np.einsum("ij,ij->i", vectors, vectors)
    middle = vectors.sum(axis=0) / (np.count_nonzero(squares) + IMAGINED_OTHERS)
    centred = directions((wanted - middle)[None, :])[0]
    # The same as taking the middle from every vector, without writing them down.
    along = vectors @ centred - middle @ centred
    lengths = np.sqrt(np.maximum(squares - 2 * (vectors @ middle) + middle @ middle, 1e-12))
    return np.where(squares > 0, along / lengths, 0.0).astype(np.float64)


def _dates(days: Integers, question: Question) -> Floats:
    meant = days_meant(question.text, question.today)
    if not meant:
        return np.zeros(len(days))
    different, places = np.unique(days, return_inverse=True)
    return np.array([date_share(meant, dt.date.fromordinal(day)) for day in different.tolist()])[places]


def _author(entities: Sequence[Sequence[str]], text: str) -> Floats:
    """1 for memories of the only entity that the question names."""
    folded = {name: name.casefold() for names in entities for name in names}
    named = only_named(text, set(folded.values()))
    if named is None:
        return np.zeros(len(entities))
    meant = {name for name, fold in folded.items() if fold == named}
    return np.array([not meant.isdisjoint(names) for names in entities], np.float64)


def _first_person(pool: Pool, text: str) -> Floats:
    """1 for what a person said, in their role or, where no role is known, by the trust their words are given."""
    if not is_first_person(text):
        return np.zeros(len(pool))
    return np.array([_is_said(*each) for each in zip(pool.roles, pool.trusts, strict=True)], np.float64)


def _is_said(role: str | None, trust: str) -> bool:
    return role == Role.HUMAN or (role is None and trust in {"stated", "verified"})

"""A cluster's summary without a language model: sentences that were said, chosen so that little is lost (CLU-11).

Numbers, dates, names and identifiers are what a summary must not lose, so a sentence counts for those that no chosen
one has yet, and then for how central it is. Where two say the opposite, only the newer one may be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from memories.rules.centroid import Embed, sentences_of
from memories.rules.clustersummary import WORDS_MAX, Source
from memories.rules.differences import FACTUAL, differences, read_text
from memories.rules.vocabulary import Difference

_SPECIFIC = FACTUAL - {Difference.NEGATION}
#: Names tell two claims apart ("Anna likes tea", "Bob likes tea"); numbers, dates and denials change one.
_CHANGING = frozenset({Difference.NUMBER, Difference.DATE, Difference.NEGATION})
#: As alike as this in words, and different in a fact: one is the other's newer version. A denial brings words of its
#: own ("likes", "does not like"), and versions of one fact say themselves that they are.
_SAME_CLAIM, _SAME_DENIED, _SAME_FACT = 0.7, 0.5, 0.4


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    specifics: frozenset[str]
    words: int
    fact_key: str | None


def extracted_summary(sources: Sequence[Source], embed: Embed | None) -> str | None:
    """Sentences of ``sources`` (oldest first) as one paragraph of fewer than 100 words; None when none is short enough.

    Every sentence is somebody's own; they stand in the order they were said.
    """
    offered = _newest_claims([_read(text, one.fact_key) for one in sources for text in _sentences(one.text)])
    central = _centrality([one.text for one in offered], embed)
    chosen: list[int] = []
    told, words = set[str](), 0
    while True:
        fitting = [
            place for place in range(len(offered)) if place not in chosen and words + offered[place].words < WORDS_MAX
        ]
        if not fitting:
            break
        best = max(fitting, key=lambda place: (len(offered[place].specifics - told), central[place], place))
        chosen.append(best)
        told |= offered[best].specifics
        words += offered[best].words
    return " ".join(_ended(offered[place].text) for place in sorted(chosen)) or None


def _sentences(text: str) -> list[str]:
    return sentences_of([text]) or [" ".join(text.split())]


def _newest_claims(said: Sequence[_Sentence]) -> list[_Sentence]:
    """Without what a later one repeats or corrects; oldest first."""
    kept: list[_Sentence] = []
    for one in reversed(said):
        if not any(_replaces(newer, one) for newer in kept):
            kept.append(one)
    return kept[::-1]


def _replaces(newer: _Sentence, older: _Sentence) -> bool:
    differ = differences(older.text, newer.text)
    if not differ & FACTUAL:
        return not differ
    alike = SequenceMatcher(None, _words(older), _words(newer), autojunk=False).ratio()
    if newer.fact_key and newer.fact_key == older.fact_key:
        return alike >= _SAME_FACT
    if Difference.NEGATION in differ:
        return alike >= _SAME_DENIED and differ <= _CHANGING | {Difference.WORDING}
    return alike >= _SAME_CLAIM and differ <= _CHANGING


def _words(one: _Sentence) -> list[str]:
    return one.text.casefold().split()


def _read(text: str, fact_key: str | None) -> _Sentence:
    reading = read_text(text)
    specifics = frozenset(said for kind in _SPECIFIC for said in reading.kinds.get(kind, ()))
    return _Sentence(text, specifics, len(text.split()), fact_key)


def _centrality(sentences: Sequence[str], embed: Embed | None) -> list[float]:
    """How near each is to the middle of all; without an embedder the newest counts most."""
    if embed is None or not sentences:
        return [float(place) for place in range(len(sentences))]
    vectors = embed(sentences)
    middle = vectors.mean(axis=0)
    return [round(float(one), 4) for one in vectors @ (middle / (np.linalg.norm(middle) or 1.0))]


def _ended(text: str) -> str:
    return text if text[-1] in ".!?…。！？" else f"{text}."

"""A cluster's summary without a language model: sentences that were said, chosen so that little is lost (CLU-11).

Numbers, dates, names and identifiers are what a summary must not lose, so a sentence counts for those that no chosen
one has yet, and then for how central it is; one that adds nothing is left out. Where two say the opposite, only the
newer one may be chosen. An opening that several sentences share is said once. What is hardly shorter is no summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

import numpy as np

from memories.rules.centroid import Embed, sentences_of
from memories.rules.clustersummary import WORDS_MAX, Source
from memories.rules.differences import FACTUAL, differences, read_text
from memories.rules.vocabulary import Difference
from memoryhub.lib.text import STOP_WORDS

_SPECIFIC = FACTUAL - {Difference.NEGATION}
#: Names tell two claims apart ("Anna likes tea", "Bob likes tea"); numbers, dates and denials change one.
_CHANGING = frozenset({Difference.NUMBER, Difference.DATE, Difference.NEGATION})
#: As alike as this in words, and different in a fact: one is the other's newer version. A denial brings words of its
#: own ("likes", "does not like"), and versions of one fact say themselves that they are.
_SAME_CLAIM, _SAME_DENIED, _SAME_FACT = 0.7, 0.5, 0.4


#: A sentence adds something if more than one of its words, or this share of them, was not said by those chosen before.
_NEW_WORDS, _NEW_SHARE = 1, 0.25
#: A summary may have this share of the words it stands for; otherwise nothing would be saved.
_SHARE_MAX = 0.75
#: So many words at the beginning of two sentences are worth leaving out; so many must remain.
_OPENING_MIN, _REST_MIN = 4, 2
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    specifics: frozenset[str]
    said: frozenset[str]
    fact_key: str | None

    @property
    def told(self) -> frozenset[str]:
        """Everything it says that counts."""
        return self.specifics | self.said

    def adds_to(self, told: frozenset[str]) -> bool:
        """Whether it says something that was not told."""
        new = len(self.said - told)
        return bool(self.specifics - told) or new > min(_NEW_WORDS, _NEW_SHARE * len(self.said))


def extracted_summary(sources: Sequence[Source], embed: Embed | None) -> str | None:
    """Sentences of ``sources`` (oldest first) as one paragraph of fewer than 100 words, in the order they were said.

    Every sentence is somebody's own, but for an opening that was just said, in whose place stands "…". None where that
    would not be shorter by a quarter than what it stands for: without a model nothing would be saved.
    """
    offered = _newest_claims([_read(text, one.fact_key) for one in sources for text in _sentences(one.text)])
    central = _centrality([one.text for one in offered], embed)
    chosen, told = list[int](), frozenset[str]()
    left = {place for place, one in enumerate(offered) if one.adds_to(told)}
    while left:
        best = max(left, key=lambda place: (len(offered[place].specifics - told), central[place], place))
        left.remove(best)
        if len(_paragraph(offered, [*chosen, best]).split()) < WORDS_MAX:
            chosen.append(best)
            told |= offered[best].told
            left = {place for place in left if offered[place].adds_to(told)}
    for place in list(chosen):  # what those chosen later have made needless
        others = [other for other in chosen if other != place]
        if not offered[place].adds_to(frozenset().union(*(offered[other].told for other in others))):
            chosen = others
    text = _paragraph(offered, chosen)
    return text if 0 < len(text.split()) <= _SHARE_MAX * sum(len(one.text.split()) for one in sources) else None


def _paragraph(offered: Sequence[_Sentence], chosen: Sequence[int]) -> str:
    return _together([offered[place].text for place in sorted(chosen)])


def _together(sentences: Sequence[str]) -> str:
    """One paragraph, in which an opening shared with the sentences before is said once."""
    parts, anchor, opening = list[str](), list[str](), 0
    for sentence in sentences:
        words = _ended(sentence).split()
        shared = _shared_opening(anchor, words)
        if shared >= (opening or _OPENING_MIN):
            opening = opening or shared
            parts.append(f"{_ELLIPSIS} {' '.join(words[opening:])}")
        else:
            anchor, opening = words, 0
            parts.append(" ".join(words))
    return " ".join(parts)


def _shared_opening(anchor: Sequence[str], words: Sequence[str]) -> int:
    alike = takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), zip(anchor, words, strict=False))
    return min(sum(1 for _ in alike), len(anchor) - _REST_MIN, len(words) - _REST_MIN)


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
    return _Sentence(text, specifics, frozenset(reading.order) - STOP_WORDS, fact_key)


def _centrality(sentences: Sequence[str], embed: Embed | None) -> list[float]:
    """How near each is to the middle of all; without an embedder the newest counts most."""
    if embed is None or not sentences:
        return [float(place) for place in range(len(sentences))]
    vectors = embed(sentences)
    middle = vectors.mean(axis=0)
    return [round(float(one), 4) for one in vectors @ (middle / (np.linalg.norm(middle) or 1.0))]


def _ended(text: str) -> str:
    return text if text[-1] in ".!?…。！？" else f"{text}."

"""In what two texts that look alike say something else, read from the texts themselves (CON-08, DEF-17).

Vectors of sentences hardly move when a number, a name or a "not" changes, and not at all when two names change places.
So a memory is skipped as a duplicate only when none of this differs, and whatever is not known to be harmless counts:
every word in the form it has, every sign and symbol. Known are a few fillers and words that say the same (`wording`).
A needless difference costs a person a look at the review list, a missed one costs a memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from memories.rules.subjects import numbered_subject
from memories.rules.vocabulary import Difference
from memories.rules.wording import (
    ADVERBIALS,
    AMBIGUOUS_MONTHS,
    ARTICLES,
    AUXILIARIES,
    BEFORE_DATES,
    DAYS,
    FILLERS,
    LIGHT,
    MONTHS,
    NEGATING_CHARACTERS,
    NEGATING_ENDINGS,
    NEGATIONS,
    NUMBERS,
    OPENERS,
    ORDINALS,
    PHRASES,
    SAME_AS,
    TIMES,
)
from memoryhub.lib.text import STOP_WORDS

#: What DESIGN names; the other two are about wording only.
FACTUAL = frozenset({Difference.NUMBER, Difference.DATE, Difference.NEGATION, Difference.NAME, Difference.IDENTIFIER})
#: One more or one less of these is a difference, whatever else the other text holds.
_COUNTED = frozenset({Difference.NUMBER, Difference.DATE, Difference.NEGATION})
_NOT = "¬"
_COPULAS = frozenset({"is", "are"})

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff"
    "\U00020000-\U0003ffff]"
)
_TIDIED = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufe0e\ufe0f\ufeff")
)
#: Punctuation between words that says nothing by itself.
_QUIET = frozenset(",;:\"'\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u3001")
_STOPS = frozenset(".!?\u3002\n")
_CLOSING = frozenset("\"')]\u201d\u00bb")
# Every character that is no space is in some chunk. Linear: no two neighbours here match the same character.
_CHUNK = re.compile(r"(?:(?<!\w)[-+](?=\d))?\w+(?:[.@:/&=#~+'\-,]+\w+)*(?:\+\+|#)?%?|[.!?\u3002\n]+|\S")
_PHRASE = re.compile(
    r"\b(?:" + "|".join(sorted(map(re.escape, PHRASES), key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_DATE = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:t[\d:.]+z?)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?|\d{1,2}(?:am|pm)"
)
_NUMBER = re.compile(r"([-+]?\d[\d,.]*)([a-zµ%]{0,3})")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
_LETTERS = re.compile(r"[^\W\d_]+(?:['\-][^\W\d_]+)*")
# One letter before the apostrophe is enough; a whole word would be searched for from each of its letters.
_CONTRACTION = re.compile(r"([^\W\d_])'(m|re|ll|ve)")
_CONTRACTED = {"m": "am", "re": "are", "ll": "will", "ve": "have"}


@dataclass(slots=True)
class Reading:
    """What a text says, sorted by kind; ``order`` holds everything that counts, as it was said."""

    kinds: dict[Difference, list[str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    #: Articles and the like: one more says nothing, one in place of another does.
    fillers: Counter[str] = field(default_factory=Counter)
    #: Everything in every form, to find a name where the other text has it as a word.
    heard: set[str] = field(default_factory=set)
    #: The name the text begins with, empty when it begins otherwise.
    subject: str = ""
    sentences: int = 0

    def add(self, kind: Difference, said: str) -> None:
        """Note one more thing."""
        if kind == Difference.NAME and not self.subject and STOP_WORDS.issuperset(self.order):
            self.subject = said
        same = SAME_AS.get(said, said) if kind == Difference.NAME else said
        self.kinds.setdefault(kind, []).append(said)
        self.order.append(same)
        self.heard |= {said, same}

    def counted(self, kind: Difference) -> Counter[str]:
        """What is said of a kind, and how often."""
        return Counter(self.kinds.get(kind, ()))

    def opens_aside(self, said: str) -> bool:
        """Whether a part that begins so may stand before or after the rest ("in Oslo", "on Mondays")."""
        return said in ADVERBIALS or said in self.kinds.get(Difference.DATE, ())


def differences(older: str, newer: str) -> frozenset[Difference]:
    """The kinds of things the two texts do not have in common; empty when they say the same in other words."""
    left, right = read_text(older), read_text(newer)
    found = {
        kind
        for kind in Difference
        if _unmatched(left, kind, right.heard) != _unmatched(right, kind, left.heard)
        or (kind in _COUNTED and left.counted(kind) != right.counted(kind))
    }
    if left.fillers - right.fillers and right.fillers - left.fillers:
        found.add(Difference.WORDING)
    if not found and not _same_order(left, right):
        found = {Difference.ORDER}
    if Difference.NUMBER in found and _about_others(older, newer):
        found.add(Difference.IDENTIFIER)
    return frozenset(found)


def same_subject(older: str, newer: str) -> bool:
    """Whether the texts are about the same one, as far as both begin with a name."""
    left, right = read_text(older).subject, read_text(newer).subject
    return not left or not right or left == right


def _about_others(older: str, newer: str) -> bool:
    """Whether numbers name what each is about, and not the same: two lockers, and no value that changed."""
    left, right = numbered_subject(older), numbered_subject(newer)
    return bool(left and right) and left != right


def merges(merged: str, older: str, newer: str) -> bool:
    """Whether the merged text holds every fact of both texts and no other: numbers, dates, names, identifiers.

    What only one of them denies cannot be merged: wherever the denial lands, the other text says something else.
    """
    whole, left, right = read_text(merged), read_text(older), read_text(newer)
    if left.counted(Difference.NEGATION) != right.counted(Difference.NEGATION):
        return False
    counts = [(left.counted(kind), whole.counted(kind), right.counted(kind)) for kind in _COUNTED]
    if not all(one | other <= both <= one + other for one, both, other in counts):
        return False
    heard = left.heard | right.heard
    return not any(
        _unmatched(left, kind, whole.heard) or _unmatched(right, kind, whole.heard) or _unmatched(whole, kind, heard)
        for kind in FACTUAL - _COUNTED
    )


def _unmatched(reading: Reading, kind: Difference, heard: set[str]) -> Counter[str]:
    """What is said of a kind and not heard in the other text, where it may have been taken for another kind."""
    return Counter(said for said in reading.kinds.get(kind, ()) if said not in heard)


def _same_order(left: Reading, right: Reading) -> bool:
    """Whether both say it in one order, or one begins with the aside the other ends with ("in Oslo she works")."""
    one, other = left.order, right.order
    if one == other:
        return True
    if len(one) != len(other) or left.sentences > 1 or right.sentences > 1:
        return False
    return any(
        (left.opens_aside(one[turn]) or left.opens_aside(one[0]))
        and other[0] == one[turn]
        and _turned(one, other, turn)
        for turn in range(1, min(len(one), _LONGEST_TURNED))
    )


#: Longer texts are taken as they are: turning a text costs the square of its words.
_LONGEST_TURNED = 100


def _turned(one: Sequence[str], other: Sequence[str], turn: int) -> bool:
    return [*one[turn:], *one[:turn]] == list(other)


@lru_cache(maxsize=1_024)
def read_text(text: str) -> Reading:
    """What the text says. Kept for a while: a new text is compared with several old ones."""
    plain = unicodedata.normalize("NFKC", text).translate(_TIDIED)
    reading = Reading()
    for ending in NEGATING_ENDINGS:
        reading.kinds.setdefault(Difference.NEGATION, []).extend([_NOT + ending] * plain.count(ending))
    plain = _CONTRACTION.sub(_spelled_out, _PHRASE.sub(_one_word, plain))
    plain = _UNSPACED.sub(lambda match: f" {match.group()} ", plain)
    _Reader(plain, reading).read()
    return reading


class _Reader:
    """One pass over a text's chunks."""

    def __init__(self, plain: str, reading: Reading) -> None:
        self.plain = plain
        self.reading = reading
        self.starts = True
        #: The chunks before, folded, of this sentence.
        self.past: list[str] = []
        #: A word that waits for what follows it: dropped before a date.
        self.waiting = ""
        #: Where "X of the Y" waits for its Y, in the order.
        self.genitive: int | None = None

    def read(self) -> None:
        for match in _CHUNK.finditer(self.plain):
            chunk = match.group()
            if _STOPS.issuperset(chunk):
                self._stop(chunk, match.end())
            elif len(chunk) > 1 or chunk.isalnum() or chunk == "_":
                self._word(chunk)
            elif self._counts(chunk, match.start()):
                self._note(Difference.IDENTIFIER, chunk)
        self._end()

    def _stop(self, chunk: str, end: int) -> None:
        follows = self.plain[end : end + 1]
        if follows and not (follows.isspace() or follows in _CLOSING or "\n" in chunk or "\u3002" in chunk):
            self._note(Difference.IDENTIFIER, chunk)  # "!=" and ".env"
            return
        self._end()
        if "?" in chunk:
            self.reading.add(Difference.WORDING, "?")  # what was asked is not what was said
        self.starts = True

    def _end(self) -> None:
        self._flush()
        order = self.reading.order
        if len(self.past) > 2 and self.past[-2] == "and" and (len(self.past) == 3 or self.past[-4] in _COPULAS):
            order[-2:] = sorted(order[-2:])  # "green and white"
        self.reading.sentences += bool(self.past)
        self.past, self.genitive = [], None

    def _word(self, chunk: str) -> None:
        folded = chunk.casefold()
        if folded in BEFORE_DATES:
            self._flush()
            self.waiting = folded
        elif folded in FILLERS and not (len(chunk) == 1 and chunk.isupper() and not self.starts):
            self.reading.fillers[ARTICLES.get(folded, folded)] += 1
            if folded == "the" and self.past and self.past[-1] == "of":
                self.genitive = len(self.reading.order)
        elif folded != "and" and folded not in LIGHT:
            for kind, said in _said(chunk, self.starts):
                self._note(kind, said)
        self.past.append(folded)
        self.starts = False

    def _note(self, kind: Difference, said: str) -> None:
        if kind != Difference.DATE:
            self._flush()
        self.waiting = ""
        self.reading.add(kind, said)
        place, order = self.genitive, self.reading.order
        if place:  # "the docs of the project" as "the project docs"
            order[place - 1], order[place] = order[place], order[place - 1]
        self.genitive = None

    def _flush(self) -> None:
        if self.waiting:
            self.reading.add(Difference.WORDING, self.waiting)
        self.waiting = ""

    def _counts(self, sign: str, start: int) -> bool:
        before, after = self.plain[max(start - 1, 0) : start], self.plain[start + 1 : start + 3]
        if sign in "'\"":
            return before.isdigit()  # feet and inches
        if sign == "-":
            spaced = (not before or before.isspace()) and (not after or after[0].isspace())
            return not spaced or after[1:].isdigit()
        return sign not in _QUIET


def _one_word(match: re.Match[str]) -> str:
    return PHRASES[match.group().lower()]


def _spelled_out(match: re.Match[str]) -> str:
    return f"{match[1]} {_CONTRACTED[match[2]]}"


def _said(chunk: str, starts: bool) -> Iterator[tuple[Difference, str]]:
    """What one chunk adds, mostly one thing or nothing."""
    folded = chunk.casefold().removesuffix("'s").rstrip("'")
    if folded in AUXILIARIES or folded.endswith("n't"):
        yield Difference.NEGATION, _NOT
        if (helper := AUXILIARIES.get(folded, folded.removesuffix("n't"))) not in FILLERS:
            yield Difference.WORDING, helper
    elif folded in NEGATIONS or folded in NEGATING_CHARACTERS:
        yield Difference.NEGATION, _NOT + folded if folded not in ("not", "no") else _NOT
    elif _DATE.fullmatch(folded) or _is_date_word(chunk, folded):
        yield Difference.DATE, MONTHS.get(folded, SAME_AS.get(folded, folded))
    elif (number := _number(folded)) is not None:
        yield Difference.NUMBER, number
    elif len(chunk) == 1 and chunk.isupper() and chunk != "I" and not starts:
        yield Difference.IDENTIFIER, folded
    elif _LETTERS.fullmatch(chunk) and not _HUMP.search(chunk):
        yield from _words(chunk, folded, starts)
    else:
        yield Difference.IDENTIFIER, folded


def _is_date_word(chunk: str, folded: str) -> bool:
    if folded in AMBIGUOUS_MONTHS:
        return chunk[0].isupper()
    return folded in MONTHS or folded in DAYS


def _number(folded: str) -> str | None:
    for words in (NUMBERS, ORDINALS, TIMES):
        if folded in words:
            return words[folded]
    if ordinal := _ORDINAL.fullmatch(folded):
        return f"{ordinal[1]}."
    if not (match := _NUMBER.fullmatch(folded)):
        return None
    digits, unit = match.groups()
    plain = digits.replace(",", "") if _GROUPED.fullmatch(digits) else digits.replace(",", ".")
    whole, _, decimals = plain.partition(".")
    if decimals and "." not in decimals and len(decimals) != 3:  # "1.200" may be twelve hundred, "1.2.0" a version
        plain = f"{whole}.{decimals.rstrip('0')}".rstrip(".")
    return plain + unit


def _words(chunk: str, folded: str, starts: bool) -> Iterator[tuple[Difference, str]]:
    if chunk[0].isupper() and len(chunk) > 1 and folded not in STOP_WORDS and not (starts and _is_common(folded)):
        yield Difference.NAME, folded
        return
    for word in filter(None, folded.split("-")):
        if word in NEGATIONS:
            yield Difference.NEGATION, _NOT + word if word not in ("not", "no") else _NOT
        elif word not in LIGHT:
            yield Difference.WORDING, SAME_AS.get(word, word)


def _is_common(folded: str) -> bool:
    return folded in OPENERS or folded in SAME_AS

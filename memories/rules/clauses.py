"""The clauses in which a person says something of themselves, and what of such a clause is worth keeping.

Questions, quotations, suppositions, requests, what is over or only for today, and what points at the conversation
itself ("I like this one") are left out (DEF-01, EXT-12).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.rules.thirdperson import of_them

LONGEST_SENTENCE = 400
LONGEST_OBJECT = 160

# A dot inside a word or after an initial ends nothing.
_SENTENCE = re.compile(r"[^.!?\n…]+(?:(?:[.](?=\w)|(?<=\b[A-Z])[.])[^.!?\n…]*)*[.!?…]*")
_FRAMED = re.compile(
    r"[\"“”«»]|[?]\s*$|\b(?:if i|imagine|pretend|suppose|supposing|let's say|guess|maybe|perhaps|translate|lyrics|song"
    r"|character|sa(?:ys|id)|told|tells|story|kidding|joking|as the saying|quote|write (?:an?|me|it)|used to|wish"
    r"|would have|ignore|instructions?)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:hi|hello|hey|hiya|ok(?:ay)?|well|honestly|by the way|btw|also|and|but|so|yes|yeah|no|oh|actually|now"
    r"|please|(?:remember|note|keep in mind|don't forget)(?: that)?|to be honest|personally|in general|these days"
    r"|nowadays"
    r"|thanks|thank you|fyi)\b[\s,!:;–-]*)+",
    re.IGNORECASE,
)
# An order to keep something, which is obeyed in the words it is given in.
_ORDERED = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|well|and|also|oh|hi|hello|hey)\b[\s,!]*)*(?:please,?\s+)?"
    r"(?:remember|note|keep in mind|don't forget)"
    r"(?::|,? that:?(?! (?:time|day|one|night|guy|evening|moment)\b)|(?=,? (?:my|i|i'm|our|we)\b))[\s,]+(?=\S)",
    re.IGNORECASE,
)
_CORRECTION = re.compile(r"^\W*(?:no|actually|correction|sorry|i meant?)\b", re.IGNORECASE)
_GREETING = re.compile(r"^\W*(?:hi|hello|hey|hiya)\b", re.IGNORECASE)
_BETWEEN = re.compile(
    r",?\s+(?:and|but(?: now)?|so|because|although|though|while|since)\s+(?=(?:i|my|we)\b)"
    r"|[;–]\s+|[,:]\s+(?=(?:i|my)\b)",
    re.IGNORECASE,
)
# Where an object ends: what follows explains, asks or adds.
_TAIL = re.compile(
    r",?\s+(?:so|but|because|although|though|which|and (?:it|he|she|they|you|please|what|can|my|that))\b.*$"
    r"|,\s*(?:please|can|could|thanks|especially|you know|actually|too|as well|though|near|nice)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|right now|(?:in|for) (?:a|an|ten|five|\d+) (?:moment|minutes?|hours?))\b",
    re.IGNORECASE,
)
_HERE = re.compile(
    r"^(?:it|that|those|him|her|them|how|what|when|where|why|who|whether|if|not|some help|a refund|to be|one|neither"
    r"|the (?:first|second|third|last|latter|former|next|previous|other|original|current|new|way|idea|one|version"
    r"|answer|option|plan|approach|result|look|suggestion|output|draft|fact))\b"
    r"|\b(?:this(?! (?:year|month|spring|summer|autumn|winter))|these|you|your|yours)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing said, without what leads up to it; ``greets`` when a greeting did."""

    text: str
    greets: bool = False
    #: What the user ordered to be remembered begins here.
    ordered: bool = False
    #: It puts right what was said before.
    corrects: bool = False


def clauses_of(text: str) -> Iterator[Clause]:
    """The clauses of everything said plainly; a question or a quotation says nothing of the one who utters it."""
    greets, previous, framed = False, "", False
    for sentence in _SENTENCE.findall(text.replace("’", "'")):
        ordered = not framed and "?" not in sentence and _ORDERED.match(sentence) is not None
        if len(sentence) > LONGEST_SENTENCE or (_FRAMED.search(sentence) and not ordered):
            framed = _FRAMED.search(sentence.rstrip("? ")) is not None
            continue
        framed, corrects = False, _CORRECTION.match(sentence) is not None
        only_greeted = greets and not _LEAD.sub("", previous.strip())
        greets = only_greeted or _GREETING.match(sentence) is not None or "nice to meet" in sentence.lower()
        previous = sentence
        pieces = _BETWEEN.split(_ORDERED.sub("", sentence.strip()) if ordered else sentence)
        for place, piece in enumerate(pieces):
            clause = _LEAD.sub("", piece.strip()).strip()
            if clause:
                yield Clause(clause, greets, ordered and place == 0, corrects)


def is_unclear(text: str) -> bool:
    """Whether it points at the conversation, so that nobody could tell later what it means."""
    return _HERE.search(text) is not None


def object_of(text: str) -> str | None:
    """What somebody likes, wants or does, in the third person, up to where it ends.

    None when it points into the conversation or holds only for now.
    """
    found = _TAIL.sub("", text).strip(" .,!…")
    if not found or len(found) > LONGEST_OBJECT or _HERE.search(found) or _PASSING.search(found):
        return None
    return of_them(found)

"""What the hub knows about text: terms for the keyword index, units, excerpts and fingerprints.

Everything here is pure and offline. English is stemmed and loses its stop words; scripts written without spaces
become character pairs, so Chinese, Japanese, Korean or Thai text is found without a dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memoryhub.lib.stems import stemmer

# Scripts written without spaces (Hangul has spaces, but its words are agglutinated): indexed as characters and pairs.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff"
    "\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_PICTURES = "\u2600-\u27bf\U0001f300-\U0001faff"
_TIDIED = {
    **dict.fromkeys("\u2018\u2019\u02bc", "'"),  # curly apostrophes
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff", ""),  # invisible inside a word
}
_UNTIDY = re.compile(f"[{''.join(_TIDIED)}]")


def _marks() -> str:
    """Combining marks as a character class: `\\w` leaves them out, which would cut Hindi or Hebrew words apart."""
    marks = [code for code in range(0x300, 0xFE30) if unicodedata.category(chr(code))[0] == "M"]
    known = set(marks)
    starts = [code for code in marks if code - 1 not in known]
    ends = [code for code in marks if code + 1 not in known]
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in zip(starts, ends, strict=True))


_MARK = re.compile(f"[{_marks()}]")
_JOINED = r"{0}+(?:[.@:/?&=#%~+'\-]+{0}+)*(?:\+\+|#)?"
_ASCII_CHUNK = re.compile(_JOINED.format(r"\w"), re.ASCII)
_CHUNK = re.compile(rf"{_JOINED.format(r'\w')}|[{_PICTURES}]")
_MARKED_CHUNK = re.compile(rf"{_JOINED.format(rf'[\w{_marks()}]')}|[{_PICTURES}]")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_SECTIONS = re.compile(r"[@/?&=#%~+]|:+/+|:")  # between the parts of an address, a path or a query string
_PIECES = re.compile(r"[._'\-]+")
_HUMPS = re.compile(
    r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"  # camelCase, sha256
)
_VERSION = re.compile(r"v(\d[\w.\-]*)")
_LONGEST_IDENTIFIER = 256  # beyond it is data (base64, hashes), not a name with humps worth splitting

_STOP_WORDS = (
    "a about am an and are as at be been being but by can could did do does doing don't doesn't didn't for from had "
    "has have having he her hers him his how i i'm i've i'd i'll if in into is isn't it it's its just me my of on or "
    "our ours she should so such than that that's the their theirs them then there these they this those to too us "
    "very was wasn't we were what what's when where which who whom why will with would you you're your yours"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def normalize(text: str) -> str:
    """NFKC and casefold, applied so that doing it twice changes nothing."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def tokenize(text: str, *, query: bool = False) -> list[str]:
    """Terms of a text in reading order, repeated as often as they occur.

    Identifiers, addresses and versions appear whole and in parts. A run of an unspaced script gives its characters and
    their pairs; in a query of two or more such characters only the pairs, which is what makes them selective.
    """
    if text.isascii():
        chunks = _ASCII_CHUNK.findall(text)
    else:
        text = _UNTIDY.sub(_tidied, unicodedata.normalize("NFKC", text))
        chunks = (_MARKED_CHUNK if _MARK.search(text) else _CHUNK).findall(text)
    terms: list[str] = []
    for chunk in chunks:
        terms += _short_chunk(chunk, query) if len(chunk) <= 48 else _terms_of(chunk, query)
    return terms


def _tidied(match: re.Match[str]) -> str:
    return _TIDIED[match.group()]


def _terms_of(chunk: str, query: bool) -> tuple[str, ...]:
    if chunk.isascii() or _UNSPACED_RUN.search(chunk) is None:
        return tuple(_spaced_terms(chunk))
    terms: list[str] = []
    position = 0
    for run in _UNSPACED_RUN.finditer(chunk):
        terms += _spaced_terms(chunk[position : run.start()].strip(".@:/?&=#%~+'-"))
        terms += _pairs(normalize(run.group()), query)
        position = run.end()
    terms += _spaced_terms(chunk[position:].strip(".@:/?&=#%~'-"))
    return tuple(terms)


# Most words of a text have been seen before; the answer depends on nothing else, so it is kept for all vaults.
_short_chunk = lru_cache(maxsize=32_768)(_terms_of)


def _pairs(run: str, query: bool) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return pairs if query and pairs else [*run, *pairs]


def _spaced_terms(chunk: str) -> list[str]:
    """The chunk whole, its sections (host, path step), and the pieces of each (words, humps)."""
    if chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return _kept([chunk])  # an ordinary word, nearly always
    found = [chunk]
    for section in _SECTIONS.split(chunk):
        found.append(section)
        if len(section) > _LONGEST_IDENTIFIER:
            continue
        if "'" not in section:
            for piece in _PIECES.split(section):
                found.append(piece)
                found += _HUMPS.split(piece)
        if version := _VERSION.fullmatch(section):
            found.append(version.group(1))
    return _kept(list(dict.fromkeys(found)))


def _kept(words: list[str]) -> list[str]:
    folded = dict.fromkeys(normalize(word) for word in words if word)
    stem = stemmer()
    return [stem(word) if word.isalpha() or "'" in word else word for word in folded if word not in STOP_WORDS]


def content_fingerprint(text: str) -> str:
    """What two texts must share to be the same memory: NFKC, casefold, single spaces, no closing `.` or `!`.

    Texts made of nothing but `.` and `!` keep them. This is the input of the keyed dedup hash, never stored itself.
    """
    collapsed = " ".join(normalize(text).split())
    return collapsed.rstrip(".! ") or collapsed


_SENTENCE_END = re.compile(r"[.!?…][\"')\]»”’]{0,3}\s+|[。！？][」』”’]{0,3}\s*|\n\s*")  # bounded: text is hostile


def split_units(text: str, limit: int = 900) -> list[str]:
    """The text in pieces of at most `limit` characters, cut at sentence ends, else at spaces, else anywhere.

    Nothing but white space around the cuts is lost. A text within the limit is one unit, as it is.
    """
    if len(text) <= limit:
        return [text]
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    units: list[str] = []
    start = index = 0
    while len(text) - start > limit:
        end = start
        while index < len(ends) and ends[index] <= start + limit:
            end = ends[index]
            index += 1
        if end == start:
            space = max(text.rfind(" ", start + 1, start + limit), text.rfind("\n", start + 1, start + limit))
            end = space + 1 if space > start else start + limit
        units.append(text[start:end].strip())
        start = end
    units.append(text[start:].strip())
    return [unit for unit in units if unit]


def excerpt(text: str, limit: int = 200) -> str:
    """The beginning of a text on one line, at most `limit` characters, ending in … at a word if something was cut."""
    line = " ".join(text[: limit * 8].split())
    if len(line) <= limit and len(text) <= limit * 8:
        return line
    cut = line[: limit - 1]
    space = cut.rfind(" ")
    if space > limit // 2:
        cut = cut[:space]
    while cut and (unicodedata.combining(cut[-1]) or cut[-1] == "\u200d"):
        cut = cut[:-1]
    return cut.rstrip(" ,;:.-") + "…"

"""A query as text again: written out, with a part taken away, or with a caret under a mistake."""

from __future__ import annotations

import re
import unicodedata

from memories.rules.queryparts import Condition, ParsedQuery, Part, QueryMistake, Saying

_BEFORE, _AFTER = 40, 32
_PLAIN_VALUE = re.compile(r"[^\s<>\"“„][^\s]*")


def parts_of(query: ParsedQuery) -> list[Part]:
    """Everything that counts, in the order it was written."""
    return sorted((*query.words, *query.phrases, *query.terms), key=lambda part: (part.start, part.end))


def render(query: ParsedQuery) -> str:
    """The query written out plainly; parsed again, it asks for the same."""
    phrases = set(query.phrases)
    return " ".join(_written(part, isinstance(part, Saying) and part in phrases) for part in parts_of(query))


def without(text: str, part: Part) -> str:
    """The text without one of its parts, everything else as it was written, mistakes too."""
    return f"{text[: part.start].rstrip()} {text[part.end :].lstrip()}".strip()


def caret(text: str, mistake: QueryMistake) -> str:
    """Two lines for a terminal: the text around the mistake, and carets under it."""
    first, last = max(0, mistake.start - _BEFORE), min(len(text), max(mistake.end, mistake.start + 1) + _AFTER)
    left, right = "…" if first else "", "…" if last < len(text) else ""
    marked_end = min(mistake.end, mistake.start + _BEFORE)
    last = min(last, marked_end + _AFTER)
    indent = sum(map(_columns, left + text[first : mistake.start]))
    marks = max(1, sum(map(_columns, text[mistake.start : marked_end])))
    right = "…" if last < len(text) else right
    return f"{left}{''.join(map(_printable, text[first:last]))}{right}\n{' ' * indent}{'^' * marks}"


def _written(part: Part, is_phrase: bool) -> str:
    sign = "-" if part.negated else ""
    if isinstance(part, Saying):
        return sign + (_quoted(part.text) if is_phrase else part.text)
    return f"{sign}{part.field}:{_value(part)}"


def _value(term: Condition) -> str:
    sign = "" if term.operator in {"=", ".."} else term.operator
    return sign + (term.value if _PLAIN_VALUE.fullmatch(term.value) else _quoted(term.value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _printable(character: str) -> str:
    """Line breaks, controls and marks of direction would put the caret elsewhere."""
    return " " if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} else character


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1

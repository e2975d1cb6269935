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


def without(text: str, *parts: Part) -> str:
    """The text without some of its parts, everything else as it was written, mistakes too."""
    for part in sorted(parts, key=lambda part: part.start, reverse=True):
        text = f"{text[: part.start].rstrip()} {text[part.end :].lstrip()}".strip()
    return text


def around(text: str, mistake: QueryMistake) -> tuple[str, str, str]:
    """What stands before a mistake, the mistake, and what follows, each short enough for one line."""
    first, end = max(0, mistake.start - _BEFORE), min(mistake.end, mistake.start + _BEFORE)
    last = min(len(text), end + _AFTER)
    before, wrong, after = (
        _on_one_line(part) for part in (text[first : mistake.start], text[mistake.start : end], text[end:last])
    )
    return ("…" if first else "") + before, wrong, after + ("…" if last < len(text) else "")


def caret(text: str, mistake: QueryMistake) -> str:
    """Two lines for a terminal: the text around the mistake, and carets under it."""
    before, wrong, after = around(text, mistake)
    indent, marks = (sum(map(_columns, part)) for part in (before, wrong))
    return f"{before}{wrong}{after}\n{' ' * indent}{'^' * max(1, marks)}"


def _written(part: Part, is_phrase: bool) -> str:
    sign = "-" if part.negated else ""
    if isinstance(part, Saying):
        return sign + (_quoted(part.text) if is_phrase else part.text)
    return f"{sign}{part.field}:{_value(part)}"


def condition_text(field: str, value: str, *, negated: bool = False) -> str:
    """``field:value`` as somebody would write it, quoted where it must be."""
    return f"{'-' if negated else ''}{field}:{_plainly(value)}"


def _value(term: Condition) -> str:
    sign = "" if term.operator in {"=", ".."} else term.operator
    return sign + _plainly(term.value)


def _plainly(value: str) -> str:
    return value if _PLAIN_VALUE.fullmatch(value) else _quoted(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _on_one_line(text: str) -> str:
    """Line breaks, controls and marks of direction would put the caret elsewhere."""
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return "".join(" " if unicodedata.category(character) in unseen else character for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1

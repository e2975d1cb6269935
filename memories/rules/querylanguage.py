"""The language of the search box: words, "phrases" and field:value, each with a - in front to leave it out.

Every text means something. What cannot be understood is left out and reported with its place, so that a mistake
never empties a list (SRC-20).
"""

from __future__ import annotations

import re

from memories.rules.queryfields import ALIASES, FIELDS, Refusal, check_value, field_named, nearest, operator_of, shown
from memories.rules.queryparts import Condition, ParsedQuery, QueryMistake, Saying

#: Conditions, phrases and words left out that count; each may cost a look into the index. Plain words are not limited.
PARTS_MAX = 32
MISTAKES_MAX = 10
_GUESSES_MAX = 32
_CLOSING = {'"': '"', "“": '”“"', "„": '“”"'}
_SPACES = re.compile(r"\s*")
_BARE = re.compile(r"\S+")
_FIELD = re.compile(r"([A-Za-z][A-Za-z_-]{1,31}):")
_COMPARISON = re.compile(r"[<>]=?")
_INSIDE = {quote: re.compile(rf"(?:[^\\{closing}]++|\\.)*+", re.DOTALL) for quote, closing in _CLOSING.items()}
_ESCAPED = re.compile(r'\\([\\"“”„])')
# What stands before a colon in ordinary text.
_SCHEMES = frozenset("mailto tel urn data sha sha256 file git ssh localhost magnet geo doi isbn xmlns".split())


def parse(text: str) -> ParsedQuery:
    """Never raises; takes time in proportion to the length of ``text``."""
    return _Reader(text).read()


class _Reader:
    """One walk over the text, from one part to the next."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[Saying] = []
        self.phrases: list[Saying] = []
        self.terms: list[Condition] = []
        self.errors: list[QueryMistake] = []
        self.never_closed: set[str] = set()
        self.guesses = 0
        self.excluded = 0
        self.is_full = False

    def read(self) -> ParsedQuery:
        at = self._past_spaces(0)
        while at < len(self.text):
            at = self._past_spaces(self._part(at))
        return ParsedQuery(tuple(self.words), tuple(self.phrases), tuple(self.terms), tuple(self.errors))

    def _past_spaces(self, at: int) -> int:
        match = _SPACES.match(self.text, at)
        return match.end() if match else at

    def _part(self, start: int) -> int:
        """Read what begins at ``start``; where it ends."""
        following = self.text[start + 1 : start + 2]
        negated = self.text[start] == "-" and bool(following) and following != "-" and not following.isspace()
        at = start + negated
        if self.text[at] in _CLOSING:
            return self._phrase(start, at, negated)
        if (name := _FIELD.match(self.text, at)) and (end := self._condition(start, name, negated)):
            return end
        return self._word(start, at, negated)

    def _word(self, start: int, at: int, negated: bool) -> int:
        match = _BARE.match(self.text, at)
        if match is None:  # behind a quote that means nothing
            return at
        word = Saying(match[0], negated, start, match.end())
        if not negated:
            self.words.append(word)
        elif self._has_room(start, word.end):
            self.words.append(word)
            self.excluded += 1
        return word.end

    def _phrase(self, start: int, at: int, negated: bool) -> int:
        inside = self._quoted(at)
        if inside is None:
            # The quote means nothing; a - in front of it still holds for the word right behind it.
            return self._word(start, at + 1, negated) if negated else at + 1
        phrase = Saying(_unescaped(inside), negated, start, at + len(inside) + 2)
        if phrase.text.strip() and self._has_room(start, phrase.end):
            self.phrases.append(phrase)
        return phrase.end

    def _quoted(self, at: int) -> str | None:
        """What stands in the quotes that open at ``at``. A kind of quote that is never closed is looked for once."""
        quote = self.text[at]
        if quote in self.never_closed:
            return None
        inside = _INSIDE[quote].match(self.text, at + 1)
        if inside is None or inside.end() == len(self.text) or self.text[inside.end()] not in _CLOSING[quote]:
            self.never_closed.add(quote)
            self._report("This quote is never closed.", at, at + 1, "Close it, or leave it out.")
            return None
        return inside[0]

    def _condition(self, start: int, name: re.Match[str], negated: bool) -> int | None:
        """Read ``field:value``; where it ends, or None when it is a word that only has a colon in it."""
        at = name.end()
        bare = _BARE.match(self.text, at)
        field = field_named(name[1])
        if field is None or self.text.startswith("//", at):
            return self._unknown(name, bare[0]) if field is None and bare else None
        comparison = _COMPARISON.match(self.text, at)
        value_at = comparison.end() if comparison else at
        if bare is None or value_at == bare.end():
            operator, raw, end = "=", "", value_at
        elif self.text[value_at] in _CLOSING:
            inside = self._quoted(value_at)
            if inside is None:
                return bare.end()
            operator, raw, end = comparison[0] if comparison else "=", _unescaped(inside), value_at + len(inside) + 2
        else:
            operator, raw, end = *operator_of(field, bare[0]), bare.end()
        value = check_value(field, operator, raw)
        if isinstance(value, Refusal):
            self._report(value.message, at if raw else start, end, value.hint)
        elif self._has_room(start, end):
            self.terms.append(Condition(field.name, operator, value, negated, start, end))
        return end

    def _unknown(self, name: re.Match[str], rest: str) -> int | None:
        """Something before a colon that is no field: left out when it looks like one was meant."""
        if rest[0] in "/\\:" or name[1].casefold() in _SCHEMES:
            return None
        close = self._guess(name[1])
        if rest[0].isdigit() and close is None:
            return None
        value_end = name.end() + len(rest)
        if rest[0] in _CLOSING and (inside := self._quoted(name.end())) is not None:
            value_end = name.end() + len(inside) + 2
        asked = shown(self.text[name.end() : value_end])
        quoted = shown(self.text[name.start() : value_end].replace('"', ""))
        hint = f"Did you mean {close}:{asked}?" if close else f'To look for the text itself, quote it: "{quoted}".'
        self._report(f"There is no field “{name[1]}”.", name.start(1), name.end(), hint)
        return value_end

    def _guess(self, name: str) -> str | None:
        self.guesses += 1
        return nearest(name, [*FIELDS, *ALIASES]) if self.guesses <= _GUESSES_MAX else None

    def _has_room(self, start: int, end: int) -> bool:
        taken = len(self.terms) + len(self.phrases) + self.excluded
        if taken < PARTS_MAX:
            return True
        if not self.is_full:
            self.is_full = True
            message = f"Only the first {PARTS_MAX} conditions, phrases and excluded words count."
            self._report(message, start, end, "Ask for fewer at once.")
        return False

    def _report(self, message: str, start: int, end: int, hint: str) -> None:
        if len(self.errors) < MISTAKES_MAX:
            self.errors.append(QueryMistake(message, start, end, hint))


def _unescaped(inside: str) -> str:
    return _ESCAPED.sub(r"\1", inside)

"""Whether a newer statement about somebody takes the place of an older one with the same fact key (SUP-01, DEF-17).

Some things are so in one way at a time: a home, a name, a favourite colour. What somebody likes is not; there only
the opposite of the same replaces, and what may be the opposite is shown to a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from memories.rules.facts import Fact

#: Fact keys that have one value at a time.
SINGLE = frozenset({"home", "name", "nickname", "job", "employer", "age"})
_WORD = re.compile(r"\w+")
_LIKING = r"loves|likes|enjoys|prefers|adores|is a fan of|is into"
_SHUNNING = r"hates|dislikes|detests|loathes|cannot stand|does not like|is no fan of"
_STANCE = re.compile(
    rf"^The user (?:(?P<likes>{_LIKING})|(?P<shuns>{_SHUNNING})"
    r"|(?P<refrains>does not (?=eat|drink)|never )(?P<avoided>\w+)|(?:usually|always|often) (?P<done>\w+))"
    r" (?P<what>.+)$"
)


class Renewal(StrEnum):
    """What a newer statement does to the older one."""

    REPLACES = "replaces"
    DISPUTES = "disputes"
    BESIDE = "beside"


def renewal_of(old: str, new: str, key: str) -> Renewal:
    """What ``new`` does to ``old``, which has the same non-empty fact key. What only says less replaces nothing."""
    if _words(new) <= _words(old):
        return Renewal.BESIDE
    if key in SINGLE or key.startswith("favorite_"):
        return Renewal.REPLACES
    before, after = _STANCE.match(old), _STANCE.match(new)
    if before is None or after is None or _is_for(before) == _is_for(after):
        return Renewal.BESIDE
    same = before["what"].casefold() == after["what"].casefold() and _habit(before) == _habit(after)
    return Renewal.REPLACES if same else Renewal.DISPUTES


def outdated_in(facts: Sequence[Fact]) -> set[int]:
    """Places of the facts that a later one of the same conversation replaces; ``facts`` are in the order of its turns.

    Two jobs told in one breath are two jobs.
    """
    return {
        place
        for place, old in enumerate(facts)
        for new in facts[place + 1 :]
        if old.key is not None
        and old.key == new.key
        and not (new.key == "job" and old.sources == new.sources and not new.corrects)
        and renewal_of(old.text, new.text, old.key) is Renewal.REPLACES
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _is_for(stance: re.Match[str]) -> bool:
    return not (stance["shuns"] or stance["refrains"])


def _habit(stance: re.Match[str]) -> str:
    """What is done or not; empty where something is only liked or not."""
    return (stance["avoided"] or stance["done"] or "").removesuffix("s")

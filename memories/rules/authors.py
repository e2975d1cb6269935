"""Who a question is about: somebody it names, or the person who asks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORDS = re.compile(r"\w+")
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|myself|we|our|ours|us)\b", re.IGNORECASE)


def only_named(question: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that the question says; None when it says none, or several."""
    said = _folded(question)
    found = {name for name in names if _folded(name).strip() and _folded(name) in said}
    return found.pop() if len(found) == 1 else None


def is_first_person(question: str) -> bool:
    """Whether the person who asks speaks of themselves."""
    return _FIRST_PERSON.search(question) is not None


@lru_cache(maxsize=4_096)
def _folded(text: str) -> str:
    """Its words, each between single spaces: what is contained in whole words is contained here."""
    return f" {' '.join(_WORDS.findall(text.casefold()))} "

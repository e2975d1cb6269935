"""Words to their stems: Snowball's, where PyStemmer is installed, as it always is in a hub."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

try:
    import Stemmer as Snowball
except ImportError:  # an agent's own environment has what the client needs, and no more
    Snowball = None

HAS_SNOWBALL = Snowball is not None

_local = threading.local()


def stemmer() -> Callable[[str], str]:
    """For this thread, as a Snowball stemmer keeps its work in itself; of English, for folded words."""
    mine: Any = getattr(_local, "stem", None)
    if mine is None:
        mine = _local.stem = Snowball.Stemmer("english", 0).stemWord if HAS_SNOWBALL else singular
    stem: Callable[[str], str] = mine
    return stem


def singular(word: str) -> str:
    """What finds tides for tide where there is no Snowball: the rules of Harman's s-stemmer."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "'s")):
        return word.removesuffix("'s")
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return f"{word[:-3]}y"
    return word[:-1]

"""What a statement is about where a number names it: "Locker 3 holds skates" tells of no other locker (CON-08).

A number that names is no value that changed. It is taken for a name only where it cannot well be a value: the text
begins with a noun, the number follows at once, and then a verb. Everything else is left to the comparison of values:
"Rent 900 euros", "Buy 3 apples", "The hub listens on port 8000".
"""

from __future__ import annotations

import re

from memoryhub.lib.text import STOP_WORDS

_OPENING = re.compile(
    r"[\W_]*(?:(?P<article>the|our|my|your|his|her|their|its|this|that)\s+)?(?P<noun>[^\W\d_]{2,})\s+(?:no\.?\s*|number\s+|#)?"
    r"(?P<number>\d+(?:[.\-/]\d+)*[a-z]?)\s+(?P<verb>[^\W\d_]+(?:['’]t)?)(?P<more>\s+\w)?",
    re.IGNORECASE,
)
#: Verbs that need no ending to be known as such.
_VERBS = frozenset(
    "is are was were has have had does do did can could will would may might must shall should cannot isn't "
    "aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't can't couldn't won't wouldn't goes went "
    "came comes got broke lost belongs stood stands left took takes ran runs began begins ended ends opens closes "
    "costs".split()
)
#: What looks like a verb after a number and is what is counted.
_COUNTED = frozenset(
    "euros dollars pounds francs kronor cents bucks percent degrees minutes hours seconds days nights weeks "
    "months quarters years times metres meters miles kilometres kilometers litres liters grams kilos tons tonnes "
    "pieces pages people persons guests adults kids children seats beds rooms tickets items points steps requests "
    "bytes users engineers".split()
)
#: What may stand before a number at the beginning and is no noun: orders, and sentences without their subject.
_NO_NOUNS = frozenset(
    "add allow assign avoid book bring buy call charge check close cost count cut do drink drive eat exactly "
    "every fetch get give hire hold include increase invite just keep learn leave limit make meet move need only "
    "open order own pay pick plan plant play post print put read remove reserve reduce run save schedule see sell "
    "send serve set show sleep spend start stop store swap take use wait walk want water weigh work write about "
    "almost around nearly over under roughly within another january february march april may june july august "
    "september october november december".split()
)


def numbered_subject(text: str) -> str:
    """The noun and the number that name what the text tells of, folded ("locker 3"); empty where none does."""
    found = _OPENING.match(text)
    if found is None:
        return ""
    noun, verb = found["noun"].casefold(), found["verb"].casefold().replace("’", "'")
    if noun in STOP_WORDS or noun in _NO_NOUNS or noun.removesuffix("s") in _NO_NOUNS:
        return ""
    if verb not in _VERBS and not _looks_like_a_verb(verb, followed=found["more"] is not None):
        return ""
    return f"{noun} {found['number'].casefold()}"


def _looks_like_a_verb(word: str, *, followed: bool) -> bool:
    return (
        followed and word not in _COUNTED and len(word) > 3 and word.endswith(("s", "ed")) and not word.endswith("ss")
    )

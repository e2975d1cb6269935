"""What a saved view of the list may be (ux §2.2), and whom it names."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import parse_qsl

from pydantic import BeforeValidator, Field

from memories.rules.queryedits import conditions_on
from memories.rules.vocabulary import ErasureKind
from memoryhub.lib.strict import StrictModel

#: So many views of one person, and so many characters of an address.
VIEWS_MAX = 50
ADDRESS_MAX = 12_000
NAME_MAX = 80
#: Where a view may say a name in words of its own, and the shortest name that is looked for in words.
_IN_WORDS = frozenset({"q", "entity", "tag"})
_SPOKEN_MIN = 3


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


class ViewDraft(StrictModel):
    """A name and the address of a list, for oneself or for everybody in the vault."""

    name: Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=NAME_MAX)]
    address: Annotated[str, Field(max_length=ADDRESS_MAX)] = ""
    is_shared: bool = False
    is_pinned: bool = False


def names_subject(kind: ErasureKind, subject: str, name: str, address: str) -> bool:
    """Whether a view names a user, an agent or a conversation: in a filter, in its text or in what it is called.

    A short label ("a", "7") counts only as a filter: as a word it could be anything.
    """
    said = parse_qsl(address, keep_blank_values=True)
    if (f"{kind.value}_id", subject) in said:
        return True
    queries = [value for key, value in said if key == "q"]
    folded = subject.casefold()
    if any(term.value.casefold() == folded for text in queries for term in conditions_on(text, kind.value)):
        return True
    if len(subject) < _SPOKEN_MIN:
        return False
    spoken = re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")
    return any(spoken.search(text.casefold()) for text in [name, *(value for key, value in said if key in _IN_WORDS)])

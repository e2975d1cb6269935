"""Exact phrases: the keyword index proposes, the opened text decides (SRC-19, SRC-20)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from banks.access import Access
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.search.containing import memories_with_all
from memoryhub.lib.blindindex import hash_query
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.text import normalize

#: How many texts one phrase may open; the newest come first.
COMPARED_MAX = 2_000
_QUOTES = str.maketrans("‘’“”„", '\'\'"""')


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """Numbers of the documents that hold the phrase; ``cut`` when there were too many to look into all."""

    numbers: list[int]
    cut: bool


def documents_with_phrase(access: Access, phrase: str, rows: MemoryQuerySet) -> PhraseMatches:
    """Which of ``rows`` say exactly this, whatever the case and spacing.

    A phrase without an indexable word (“it is”) is looked for in the newest rows. Texts that do not open are passed
    over.
    """
    terms = hash_query(access.keys.index, phrase)
    if terms:
        rows = rows.filter(memories_with_all(access, terms))
    newest = rows.order_by("-created_at", "-id").only("id", "vault_id", "doc_no", "content")
    candidates = list(newest[: COMPARED_MAX + 1])
    pattern = _pattern(phrase)
    found = [row.doc_no for row in candidates[:COMPARED_MAX] if pattern.search(_folded(_opened(row)))]
    return PhraseMatches(found, len(candidates) > COMPARED_MAX)


def _pattern(phrase: str) -> re.Pattern[str]:
    """The phrase as whole words; scripts without spaces and cases are matched anywhere."""
    folded = _folded(phrase)
    before = r"(?<!\w)" if _is_spaced(folded[:1]) else ""
    after = r"(?!\w)" if _is_spaced(folded[-1:]) else ""
    return re.compile(before + re.escape(folded) + after)


def _folded(text: str) -> str:
    return " ".join(normalize(text.translate(_QUOTES)).split())


def _is_spaced(character: str) -> bool:
    return character.isalnum() and unicodedata.category(character) != "Lo"


def _opened(row: Memory) -> str:
    try:
        return row.content or ""
    except (DecryptionError, UnknownKey):
        return ""

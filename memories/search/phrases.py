"""Exact phrases: the keyword index proposes, the opened text decides (SRC-19, SRC-20)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.search.wording import holds_words
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.text import normalize

#: How many texts one query may open; the newest come first.
COMPARED_MAX = 2_000
_QUOTES = str.maketrans("‘’“”„", '\'\'"""')


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """The memories that match, and how many texts were opened; ``cut`` when there were more."""

    ids: list[UUID]
    compared: int
    cut: bool


def memories_with_phrases(
    access: Access, rows: MemoryQuerySet, wanted: Sequence[str], unwanted: Sequence[str], limit: int
) -> PhraseMatches:
    """Which of ``rows`` say exactly every wanted phrase and no unwanted one, whatever the case and spacing.

    At most ``limit`` texts are opened, the newest. Phrases without an indexable word (“it is”) are looked for in all
    of them. Texts that do not open are passed over.
    """
    if (holding_words := holds_words(access, " ".join(wanted))) is not None:
        rows = rows.filter(holding_words)
    newest = rows.order_by("-created_at", "-id").only("id", "vault_id", "content")
    candidates = list(newest[: limit + 1])
    holding, lacking = [_pattern(phrase) for phrase in wanted], [_pattern(phrase) for phrase in unwanted]
    found = []
    for row in candidates[:limit]:
        text = _folded(_opened(row))
        if all(each.search(text) for each in holding) and not any(each.search(text) for each in lacking):
            found.append(row.pk)
    return PhraseMatches(found, min(len(candidates), limit), len(candidates) > limit)


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

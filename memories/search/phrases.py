"""Exact phrases: the keyword index proposes, the opened text decides (SRC-19, SRC-20)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from banks.access import Access
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.search.wording import holds_each, holds_words
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.text import normalize

#: How many texts one query may open; the newest come first.
COMPARED_MAX = 2_000
#: How many candidates of a search are opened to look for what its question quotes, and how many quotes count.
QUOTED_OPENED, QUOTED_MAX = 100, 4
_QUOTED = re.compile(r'"([^"]{2,200})"')
_QUOTES = str.maketrans("‘’“”„", '\'\'"""')


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """The memories that match; ``cut`` when there were more than could be opened."""

    ids: list[UUID]
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
    holding, lacking = [_pattern(phrase) for phrase in wanted], [_pattern(phrase) for phrase in unwanted]
    return _compared(
        rows,
        limit,
        lambda text: all(each.search(text) for each in holding) and not any(each.search(text) for each in lacking),
    )


def memories_with_any(access: Access, rows: MemoryQuerySet, phrases: Sequence[str], limit: int) -> PhraseMatches:
    """Which of ``rows`` say one of the phrases or more; as memories_with_phrases, each text opened once."""
    words = holds_each(access, phrases)
    if all(each is not None for each in words):
        rows = rows.filter(reduce(or_, filter(None, words)))
    patterns = [_pattern(phrase) for phrase in phrases]
    return _compared(rows, limit, lambda text: any(each.search(text) for each in patterns))


def _compared(rows: MemoryQuerySet, limit: int, fits: Callable[[str], bool]) -> PhraseMatches:
    candidates = list(rows.order_by("-created_at", "-id").only("id", "vault_id", "content")[: limit + 1])
    found = [row.pk for row in candidates[:limit] if fits(_folded(_opened(row)))]
    return PhraseMatches(found, len(candidates) > limit)


def quoted(question: str) -> list[str]:
    """What a question puts in double quotes and is more than a word: at most four phrases."""
    found = [" ".join(said.split()) for said in _QUOTED.findall(question.translate(_QUOTES))]
    return [phrase for phrase in dict.fromkeys(found) if " " in phrase][:QUOTED_MAX]


def shares_said(access: Access, ids: Sequence[UUID], phrases: Sequence[str]) -> dict[UUID, float]:
    """Memory → which share of the phrases its opened text says, of the first hundred; ids must be of rows the caller
    may see. Those that say none are left out."""
    patterns = [_pattern(phrase) for phrase in phrases]
    rows = Memory.objects.in_vault(access.vault_id).filter(pk__in=list(ids[:QUOTED_OPENED]))
    texts = {row.pk: _folded(_opened(row)) for row in rows.only("id", "vault_id", "content")}
    shares = {
        memory_id: sum(each.search(text) is not None for each in patterns) / len(patterns)
        for memory_id, text in texts.items()
    }
    return {memory_id: share for memory_id, share in shares.items() if share}


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

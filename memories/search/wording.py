"""Whole words in a memory, whatever its labels say: the text filter of lists, answered by the keyword index."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.db.models.expressions import RawSQL

from banks.access import Access
from memories.search.containing import documents_with_all
from memoryhub.lib.blindindex import hash_query


def holds_words(access: Access, text: str) -> Q | None:
    """Memories that hold every word of ``text``; None when the index knows none of them as a word (SRC-20)."""
    return holds_each(access, [text])[0]


def holds_each(access: Access, texts: Sequence[str]) -> list[Q | None]:
    """The same for each text by itself, asked at once."""
    groups = [hash_query(access.keys.index, text) for text in texts]
    if not any(groups):
        return [None] * len(texts)
    found = iter(documents_with_all(access, [terms for terms in groups if terms]))
    return [Q(pk__in=RawSQL(_HOLDING, [access.vault_id, next(found)])) if terms else None for terms in groups]


_HOLDING = "SELECT memory_id FROM memories_memoryindex WHERE vault_id = %s AND doc_no = ANY(%s::int4[])"

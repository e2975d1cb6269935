"""From content to index rows. The rows are not saved here: a write commits them with the memory (CON-06, MOD-46)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from memories.index.spaces import ActiveSpace
from memories.models import Embedding, Memory, MemoryIndex
from memories.models.retrieval import INDEX_VERSION
from memories.rules.times import MENTIONS_TIME, mentions_time
from memoryhub.lib.blindindex import index_text
from memoryhub.lib.bulk import new_row
from memoryhub.lib.text import split_units
from memoryhub.providers.base import Vectors


@dataclass(frozen=True, slots=True)
class Indexable:
    """A memory and its plain content, while both are in hand.

    Its first unit has the memory's own document number, the others those from ``more_from`` on: right after it when
    it is new, elsewhere when it grew.
    """

    memory: Memory
    content: str
    more_from: int | None = None
    #: One row for each unit, where the write has made them already to compare with.
    vectors: Vectors | None = None

    def document(self, unit: int) -> int:
        """The document number of a unit."""
        own: int = self.memory.doc_no
        return own + unit if unit == 0 or self.more_from is None else self.more_from + unit - 1


def units_of(content: str) -> list[str]:
    """What is indexed by itself: pieces of at most 900 characters, at least one."""
    return split_units(content) or [content]


def keyword_rows(index_key: bytes, items: Sequence[Indexable]) -> list[MemoryIndex]:
    """The blind keyword index of each item's units, tokens keyed before they leave this process (SRC-03)."""
    rows = []
    for item in items:
        for number, unit in enumerate(units_of(item.content)):
            indexed = index_text(index_key, unit, [MENTIONS_TIME] if mentions_time(unit) else [])
            rows.append(
                new_row(
                    MemoryIndex,
                    id=None,
                    memory_id=item.memory.pk,
                    vault_id=item.memory.vault_id,
                    unit=number,
                    terms=indexed.terms,
                    tfs=indexed.tfs,
                    doc_len=indexed.length,
                    chars=len(unit),
                    doc_no=item.document(number),
                    is_compacted=False,
                    index_version=INDEX_VERSION,
                )
            )
    return rows


def vector_rows(active: ActiveSpace, items: Sequence[Indexable]) -> list[Embedding]:
    """One vector for every unit of every item, those not made yet in one call (ENC-11). Raises ProviderError."""
    missing = [item for item in items if item.vectors is None]
    made = iter(vectors_of(active, [item.content for item in missing]))
    return [
        new_row(
            Embedding,
            id=None,
            vault_id=item.memory.vault_id,
            memory_id=item.memory.pk,
            space_id=active.space_id,
            unit=number,
            vector=vector,
            in_tail=True,
        )
        for item in items
        for number, vector in enumerate(next(made) if item.vectors is None else item.vectors)
    ]


def vectors_of(active: ActiveSpace, contents: Sequence[str]) -> list[Vectors]:
    """For each text one vector per unit, embedded in one call. Raises ProviderError."""
    units = [units_of(content) for content in contents]
    if not units:
        return []
    vectors = active.checked(active.embedder.embed([text for texts in units for text in texts]))
    ends = list(accumulate(len(texts) for texts in units))
    return [vectors[end - len(texts) : end] for texts, end in zip(units, ends, strict=True)]

"""How many documents a vault has and how long they are: what BM25 weighs words with."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from banks.access import Access

#: Up to here counting is cheap enough to do every time.
_COUNT_ALWAYS = 5_000
_FRESH_SECONDS = 60.0
_DRIFT = 0.02


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """Documents in the keyword index of a vault, and their mean length in tokens."""

    documents: int
    mean_length: float


@dataclass(frozen=True, slots=True)
class _Counted:
    size: CorpusSize
    next_doc_no: int
    at: float


_counted: dict[UUID, _Counted] = {}
_lock = threading.Lock()


def corpus_size(access: Access) -> CorpusSize:
    """The vault's corpus. Large vaults are counted once a minute or after 2 % growth; ranking does not notice."""
    latest = access.vault.next_doc_no
    with _lock:
        known = _counted.get(access.vault_id)
    if known is not None and latest > _COUNT_ALWAYS and _still_true(known, latest):
        return known.size
    size = _count(access.vault_id)
    with _lock:
        _counted[access.vault_id] = _Counted(size, latest, time.monotonic())
    return size


def _still_true(known: _Counted, latest: int) -> bool:
    grown = abs(latest - known.next_doc_no) > _DRIFT * known.next_doc_no
    return not grown and time.monotonic() - known.at < _FRESH_SECONDS


def _count(vault_id: UUID) -> CorpusSize:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(avg(doc_len), 0)::float8 FROM memories_memoryindex WHERE vault_id = %s",
            [vault_id],
        )
        documents, mean_length = cursor.fetchone()
    return CorpusSize(int(documents), float(mean_length))

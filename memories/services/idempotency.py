"""Answer a repeated request instead of doing it twice (Idempotency-Key).

The key's row and the effect are one transaction: a second request with the same key waits for the first and then
gets its answer; when the first fails, nothing is kept and the second is the first.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from banks.access import Access
from memories.models import IdempotencyRecord
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import keyed_hash, same
from memoryhub.lib.errors import Invalid
from memoryhub.lib.ids import new_id

KEPT_FOR = dt.timedelta(hours=24)


class IdempotencyKeyReused(Invalid):
    """This Idempotency-Key was used with another request; use a new key for a new request."""

    code = "idempotency_key_reused"


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it goes over the wire; ``body`` is plain JSON data."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    replayed: bool = False


def with_idempotency(access: Access, key: str, fingerprint: bytes, call: Callable[[], StoredAnswer]) -> StoredAnswer:
    """``call``'s answer, or the one kept for this key. Raises IdempotencyKeyReused for another request.

    ``fingerprint`` is method, path and body. Answers are sealed, kept for a day and per key holder.
    """
    key_hash = keyed_hash(access.keys.dedup, b"idempotency\0" + key.encode())
    print_ = keyed_hash(access.keys.dedup, b"request\0" + fingerprint)
    with transaction.atomic():
        record = _claim(access, key_hash, print_)
        if record is not None:
            return _kept(record, print_)
        answer = call()
        mine = IdempotencyRecord.objects.get(vault_id=access.vault_id, actor_id=access.actor.id, key_hash=key_hash)
        mine.answer = {"status": answer.status, "body": answer.body, "headers": answer.headers}
        mine.memory_ids = sorted(set(_ids_in(answer.body)))
        mine.save(update_fields=["answer", "memory_ids"])
        return answer


def _claim(access: Access, key_hash: bytes, fingerprint: bytes) -> IdempotencyRecord | None:
    """Insert the key; waits while another request holds it. None when it is ours, else the record there is."""
    rows = IdempotencyRecord.objects.filter(vault_id=access.vault_id, actor_id=access.actor.id, key_hash=key_hash)
    rows.filter(created_at__lt=now() - KEPT_FOR).delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memories_idempotencyrecord"
            " (id, vault_id, actor_id, key_hash, fingerprint, memory_ids, created_at)"
            " VALUES (%s, %s, %s, %s, %s, '{}', %s) ON CONFLICT (vault_id, actor_id, key_hash) DO NOTHING",
            [new_id(), access.vault_id, access.actor.id, key_hash, fingerprint, now()],
        )
        if cursor.rowcount:
            return None
    return rows.get()


def _kept(record: IdempotencyRecord, fingerprint: bytes) -> StoredAnswer:
    if not same(bytes(record.fingerprint), fingerprint):
        raise IdempotencyKeyReused
    answer = record.answer
    return StoredAnswer(answer["status"], answer["body"], answer["headers"], replayed=True)


def _ids_in(body: Any) -> Iterator[UUID]:
    """Every memory id an answer could hold, so that erasing a memory finds the answers that carry it."""
    if isinstance(body, dict):
        for value in body.values():
            yield from _ids_in(value)
    elif isinstance(body, list):
        for value in body:
            yield from _ids_in(value)
    elif isinstance(body, UUID):
        yield body
    elif isinstance(body, str) and len(body) == 36:
        try:
            yield UUID(body)
        except ValueError:
            return


def forget_old_answers() -> int:
    """Delete answers older than a day; how many. The hub's own housekeeping."""
    return IdempotencyRecord.objects.filter(created_at__lt=now() - KEPT_FOR).delete()[0]

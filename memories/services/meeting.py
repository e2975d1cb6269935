"""Which memories a write would meet: those with its external ids, and live ones with its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from banks.access import Access

# Plain SQL in two halves, because each half has an index of its own and an OR over both has none.
_MEETING = """
    SELECT id FROM memories_memory WHERE vault_id = %(vault)s AND external_write_id = ANY(%(external)s)
    UNION
    SELECT id FROM memories_memory WHERE vault_id = %(vault)s AND content_hash = ANY(%(hashes)s::bytea[])
       AND content_hash IS NOT NULL AND archived_at IS NULL AND superseded_by_id IS NULL AND NOT status = 'discard'
"""


def meeting(access: Access, external_ids: Sequence[str], content_hashes: Sequence[bytes]) -> list[UUID]:
    """Ids of the memories that have one of the external ids, or live with one of the content hashes."""
    if not external_ids and not content_hashes:
        return []
    named: dict[str, Any] = {"vault": access.vault_id, "external": list(external_ids), "hashes": list(content_hashes)}
    with connection.cursor() as cursor:
        cursor.execute(_MEETING, named)
        return [memory_id for (memory_id,) in cursor.fetchall()]

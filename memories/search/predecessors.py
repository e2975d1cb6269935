"""The other direction of supersession: which older memory each of these replaced."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from banks.access import Access


def predecessors(access: Access, ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """By id of the newer memory, the id of the latest one it supersedes; ids that replaced nothing are left out."""
    wanted = list(ids)
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [access.vault_id, wanted])
        return dict(cursor.fetchall())


_STATEMENT = """
SELECT superseded_by_id, id FROM memories_memory
 WHERE vault_id = %s AND superseded_by_id = ANY(%s)
 ORDER BY created_at, id
"""

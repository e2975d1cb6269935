"""Whether somebody called: what the page that connects an agent waits for."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access, KeyScope
from memoryhub.lib.statements import fetch

#: Lines of the audit that are looked at; the page asks every two seconds.
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class CallSeen:
    """Who called, when, and what for: a verb of the audit, a purpose of a look-up, or nothing but the use itself."""

    key_name: str
    prefix: str
    agent: str
    what: str
    at: dt.datetime


def find_call(access: Access, since: dt.datetime, key_id: UUID | None = None) -> CallSeen | None:
    """The first authenticated call of a key of this vault, or of one key, since a moment. Needs keys:admin.

    That a key is used is noted once a minute; what it did says it at once. Raises WholeVaultNeeded.
    """
    access.require(KeyScope.KEYS_ADMIN)
    access.require_whole_vault()
    named = {"vault": access.vault_id, "since": since, "key": key_id, "looked_at": _LOOKED_AT}
    rows = fetch(_FIRST, named)
    return CallSeen(*rows[0]) if rows else None


_FIRST = """
SELECT k.name, 'mh_live_' || k.public_id, coalesce(a.name, ''), seen.what, seen.at FROM (
    SELECT actor_id AS key, action AS what, at, 0 AS place FROM (
        SELECT * FROM banks_auditentry WHERE vault_id = %(vault)s ORDER BY id DESC LIMIT %(looked_at)s
    ) AS recent WHERE actor_kind = 'key' AND at >= %(since)s
    UNION ALL
    SELECT actor_id, purpose, at, 0 FROM memories_lookup
     WHERE vault_id = %(vault)s AND at >= %(since)s AND actor_kind = 'key'
    UNION ALL
    SELECT id::text, '', last_used_at, 1 FROM banks_apikey WHERE vault_id = %(vault)s AND last_used_at >= %(since)s
) AS seen
JOIN banks_apikey k ON k.vault_id = %(vault)s AND k.id::text = seen.key
LEFT JOIN banks_agent a ON a.vault_id = k.vault_id AND a.id = k.agent_id
WHERE %(key)s::uuid IS NULL OR k.id = %(key)s::uuid
ORDER BY seen.place, seen.at LIMIT 1
"""

"""What keys and agents did lately, and what was done with each bank: for the pages that list them. One statement each.

Counts are over what the audit and the access log keep; nobody's text is looked at.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

from banks.access import Access, KeyScope
from memoryhub.lib.clock import now
from memoryhub.lib.statements import fetch

LATELY = dt.timedelta(days=30)
A_DAY = dt.timedelta(hours=24)
#: Lines of the audit that are counted, the newest.
_COUNTED = 20_000


@dataclass(frozen=True, slots=True)
class Doings:
    """How often somebody wrote and read in 30 days and in the last 24 hours, and when last."""

    writes: int = 0
    reads: int = 0
    writes_today: int = 0
    reads_today: int = 0
    wrote_at: dt.datetime | None = None
    read_at: dt.datetime | None = None


NOTHING = Doings()


def doings_of_keys(access: Access) -> dict[str, Doings]:
    """Key id → what it did. Needs keys:admin. Raises WholeVaultNeeded."""
    access.require(KeyScope.KEYS_ADMIN)
    access.require_whole_vault()
    return {key: Doings(*rest) for key, *rest in fetch(_BY_KEY, _since(access))}


def doings_of_agents(access: Access) -> dict[str, Doings]:
    """Agent id → what its keys did, none but its own for an agent or a key limited to banks. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    found = {agent: Doings(*rest) for agent, *rest in fetch(_BY_AGENT, _since(access))}
    if access.agent is None and access.bank_ids is None:
        return found
    return {key: one for key, one in found.items() if key == access.agent_id}


@dataclass(frozen=True, slots=True)
class BankUse:
    """When something was last written to a bank, and last given out of it."""

    wrote_at: dt.datetime | None = None
    recalled_at: dt.datetime | None = None


def use_of_banks(access: Access) -> dict[UUID, BankUse]:
    """Bank id → its last write and recall, of the banks the caller reaches. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    rows = fetch(_BY_BANK, {"vault": access.vault_id})
    return {bank: BankUse(*rest) for bank, *rest in rows if access.may_use_bank(bank)}


def _since(access: Access) -> dict[str, object]:
    at = now()
    return {"vault": access.vault_id, "lately": at - LATELY, "today": at - A_DAY, "counted": _COUNTED}


_DONE = """
    SELECT actor_id AS key, at, true AS wrote FROM (
        SELECT actor_id, actor_kind, at FROM banks_auditentry
         WHERE vault_id = %(vault)s ORDER BY id DESC LIMIT %(counted)s
    ) AS recent WHERE actor_kind = 'key' AND at >= %(lately)s
    UNION ALL
    SELECT actor_id, at, false FROM memories_lookup
     WHERE vault_id = %(vault)s AND actor_kind = 'key' AND at >= %(lately)s
"""
_COUNTS = """
    count(*) FILTER (WHERE wrote)::int, count(*) FILTER (WHERE NOT wrote)::int,
    count(*) FILTER (WHERE wrote AND at >= %(today)s)::int, count(*) FILTER (WHERE NOT wrote AND at >= %(today)s)::int,
    max(at) FILTER (WHERE wrote), max(at) FILTER (WHERE NOT wrote)
"""
_BY_KEY = f"SELECT key, {_COUNTS} FROM ({_DONE}) AS done GROUP BY key"
_BY_AGENT = f"""
SELECT k.agent_id::text, {_COUNTS} FROM ({_DONE}) AS done
  JOIN banks_apikey k ON k.vault_id = %(vault)s AND k.id::text = done.key
 WHERE k.agent_id IS NOT NULL GROUP BY k.agent_id
"""
# The newest row of each bank by its index; what was last given out is known of the memories themselves.
_BY_BANK = """
SELECT b.id, newest.created_at, (
         SELECT max(m.last_accessed_at) FROM (
           SELECT last_accessed_at FROM memories_memory
            WHERE vault_id = b.vault_id AND bank_id = b.id ORDER BY created_at DESC LIMIT 2000) AS m)
  FROM banks_bank b LEFT JOIN LATERAL (
    SELECT created_at FROM memories_memory
     WHERE vault_id = b.vault_id AND bank_id = b.id ORDER BY created_at DESC LIMIT 1
  ) AS newest ON true WHERE b.vault_id = %(vault)s
"""

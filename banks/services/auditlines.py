"""The audit as people read it: what was done together is one line, with how much it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from banks.access import Access, KeyScope
from banks.models import AuditEntry
from banks.services.audit import AuditFilter

ANY = AuditFilter()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """The newest entry of what was done together, and how many targets of its kind it had."""

    entry: AuditEntry
    count: int = 1


def list_audit_lines(
    access: Access, limit: int, before: int | None = None, wanted: AuditFilter = ANY
) -> list[AuditLine]:
    """The newest lines of the vault, older than ``before`` when given. Needs ops:read.

    A line is one verb of a changeset (or of the receipt of an erasure), or of a request, in a row. Of a single request,
    when that is asked for, every entry is a line. Raises WholeVaultNeeded.
    """
    access.require(KeyScope.OPS_READ)
    access.require_whole_vault()
    named = {name: value for name in AuditFilter.__slots__ if (value := getattr(wanted, name))}
    asked = " ".join(f"AND a.{name} = %({name})s" for name in named)
    together = "false" if wanted.request_id else _TOGETHER
    statement = _LINES.format(asked=asked, together=together)
    values = {**named, "vault": access.vault_id, "before": before or _LAST, "limit": limit}
    rows: Any = AuditEntry.objects.raw(statement, values)
    return [AuditLine(row, 1 if wanted.request_id else row.together) for row in rows]


_LAST = 2**63 - 1
_TOGETHER = """
    (a.target_kind = 'memory' AND (a.changeset_id::text || a.action) = ANY(line.seen))
    OR (a.request_id <> '' AND a.request_id = line.request_id AND a.action = line.action
        AND a.actor_kind = line.actor_kind AND a.actor_id = line.actor_id AND a.at > line.at - interval '1 hour')
"""
#: From line to line down the index of (vault, id), so that it costs what it passes over and no more. Then the counts:
#: all of a changeset's verb, of a request's verb those down to the next line.
_LINES = """
WITH RECURSIVE line AS (
    (SELECT a.id, a.at, a.actor_kind, a.actor_id, a.action, a.target_kind, a.changeset_id, a.request_id,
            ARRAY[a.changeset_id::text || a.action] AS seen, 1 AS place
       FROM banks_auditentry a WHERE a.vault_id = %(vault)s AND a.id < %(before)s {asked}
      ORDER BY a.id DESC LIMIT 1)
    UNION ALL
    (SELECT a.id, a.at, a.actor_kind, a.actor_id, a.action, a.target_kind, a.changeset_id, a.request_id,
            line.seen || (a.changeset_id::text || a.action), line.place + 1
       FROM line, LATERAL (
            SELECT * FROM banks_auditentry a
             WHERE a.vault_id = %(vault)s AND a.id < line.id {asked} AND NOT coalesce({together}, false)
             ORDER BY a.id DESC LIMIT 1) a
      WHERE line.place < %(limit)s)
)
SELECT entry.*, greatest(1, CASE WHEN line.changeset_id IS NOT NULL THEN (
           SELECT count(DISTINCT a.target_id) FROM banks_auditentry a
            WHERE a.vault_id = %(vault)s AND a.changeset_id = line.changeset_id AND a.action = line.action
              AND a.target_kind = line.target_kind
       ) ELSE (
           SELECT CASE line.target_kind WHEN 'memory' THEN count(DISTINCT a.target_id) ELSE count(*) END
             FROM banks_auditentry a
            WHERE a.vault_id = %(vault)s AND a.id <= line.id AND a.id > coalesce(line.below, 0)
              AND line.request_id <> '' AND a.request_id = line.request_id AND a.action = line.action
              AND a.target_kind = line.target_kind
       ) END) AS together
  FROM (SELECT *, lead(id) OVER (ORDER BY place) AS below FROM line) line
  JOIN banks_auditentry entry ON entry.vault_id = %(vault)s AND entry.id = line.id
 ORDER BY line.id DESC
"""

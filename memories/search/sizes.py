"""How much room things take: the whole database, the largest tables with their indexes, and this vault's own share."""

from __future__ import annotations

from dataclasses import dataclass

from banks.access import Access, KeyScope
from memoryhub.lib.statements import fetch

SHOWN = 8


@dataclass(frozen=True, slots=True)
class TableSize:
    """Bytes of one table: its rows with what is stored beside them, and its indexes."""

    name: str
    rows: int
    indexes: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of the database and its largest tables; and how many vectors of this vault wait beside its own index."""

    database: int
    tables: list[TableSize]
    has_graph: bool
    space: str
    waiting: int


def read_sizes(access: Access) -> Sizes:
    """As the database keeps count of them, all vaults together. Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    tables = [TableSize(*row) for row in fetch(_TABLES, {"most": SHOWN})]
    ((database, has_graph, space, waiting),) = fetch(_WHOLE, {"vault": access.vault_id})
    return Sizes(database, tables, bool(has_graph), space or "", waiting)


_TABLES = """
SELECT c.relname::text, (pg_table_size(c.oid))::bigint, (pg_indexes_size(c.oid))::bigint FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
 WHERE c.relkind = 'r' ORDER BY pg_total_relation_size(c.oid) DESC LIMIT %(most)s
"""
_WHOLE = """
SELECT pg_database_size(current_database())::bigint, active.has_graph,
       active.provider || ', ' || active.model || ', ' || active.dimensions || ' dimensions',
       (SELECT count(*)::int FROM (SELECT 1 FROM memories_memory
         WHERE vault_id = %(vault)s AND index_state IN ('pending', 'failed') LIMIT 100000) AS unfound)
  FROM (SELECT 1) AS one LEFT JOIN (
    SELECT v.has_graph, s.provider, s.model, s.dimensions FROM memories_vaultspace v
      JOIN memories_embeddingspace s ON s.id = v.space_id WHERE v.vault_id = %(vault)s AND v.is_active
  ) AS active ON true
"""

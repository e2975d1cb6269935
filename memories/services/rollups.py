"""Add tallies up into hours, days and all of time; fill in what happened before there were any. The hub's own sweep.

Each step is one transaction in which tallies go and rows come, so whatever is killed or repeated counts nothing twice.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection, transaction

from memories.rules.rollups import HOURS_KEPT
from memories.services.rollupfill import FILL
from memoryhub.lib.clock import now

#: How many tallies are added up in one transaction.
FOLDED_AT_ONCE = 50_000
FILLED_AT_ONCE = 20
#: Anything; whoever holds it may move tallies.
_LOCK = 0x726F6C6C


def roll_up() -> int:
    """Fill in new vaults, add up what waits, note how long the queues are, forget old hours; tallies added up."""
    for vault_id in _unfilled():
        fill_rollups(vault_id)
    folded = fold_tallies()
    with connection.cursor() as cursor:
        cursor.execute(_PEAKS, {"at": now()})
        cursor.execute(_TRIM, [now() - HOURS_KEPT])
    return folded


def fold_tallies() -> int:
    """Add up everything that waits; how many tallies. Nothing while somebody else does."""
    folded = 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
            if not cursor.fetchone()[0]:
                return folded
            cursor.execute(_FOLD, {"most": FOLDED_AT_ONCE, "kept": now() - HOURS_KEPT})
            count = int(cursor.fetchone()[0])
        folded += count
        if count < FOLDED_AT_ONCE:
            return folded


def fill_rollups(vault_id: UUID) -> None:
    """Count a vault's history from what is stored: memories, audit, jobs, ledger, access log. Safe to repeat.

    One statement and so one moment: what is written meanwhile leaves tallies of its own. The lock keeps the tallies of
    before that moment from being added up at the same time.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(FILL, {"vault": vault_id})


def _unfilled() -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_UNFILLED, [FILLED_AT_ONCE])
        return [vault_id for (vault_id,) in cursor.fetchall()]


# Tallies of a vault that is gone are only taken away.
_FOLD = """
    WITH gone AS (
        DELETE FROM memories_tally
        WHERE id = ANY(ARRAY(SELECT id FROM memories_tally ORDER BY id LIMIT %(most)s)) RETURNING *
    ), summed AS (
        SELECT gone.vault_id, over.span, over.at, metric, label, cell, bank_id, sum(n) AS n
        FROM gone JOIN banks_vault vault ON vault.id = gone.vault_id AND vault.shredded_at IS NULL
        CROSS JOIN LATERAL (VALUES
            ('hour', CASE WHEN gone.at >= %(kept)s THEN date_trunc('hour', gone.at, 'UTC') END),
            ('day', date_trunc('day', gone.at, 'UTC')),
            ('all', timestamptz 'epoch')) AS over (span, at)
        WHERE over.at IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
    ), stored AS (
        INSERT INTO memories_rollup (vault_id, span, at, metric, label, cell, bank_id, n)
        SELECT * FROM summed
        ON CONFLICT ON CONSTRAINT rollup_once DO UPDATE SET n = memories_rollup.n + excluded.n
    )
    SELECT count(*) FROM gone
"""
_UNFILLED = """
    SELECT vault.id FROM banks_vault vault WHERE vault.shredded_at IS NULL AND NOT EXISTS (
        SELECT FROM memories_rollup WHERE vault_id = vault.id AND span = 'all' AND metric = 'filled'
    ) LIMIT %s
"""
# The greatest of two is the same however often it is taken.
_PEAKS = """
    INSERT INTO memories_rollup (vault_id, span, at, metric, label, cell, bank_id, n)
    SELECT waits.vault_id, over.span, date_trunc(over.span, %(at)s::timestamptz, 'UTC'), 'peak', '', 0, NULL, waits.n
    FROM (
        SELECT vault_id, count(*) AS n FROM memories_job
        WHERE state IN ('pending', 'running') AND due_at <= %(at)s GROUP BY 1
    ) AS waits CROSS JOIN (VALUES ('hour'), ('day')) AS over (span)
    ON CONFLICT ON CONSTRAINT rollup_once DO UPDATE SET n = excluded.n WHERE memories_rollup.n < excluded.n
"""
_TRIM = """
    DELETE FROM memories_rollup old USING banks_vault vault
    WHERE old.vault_id = vault.id AND old.span = 'hour' AND old.at < %s
"""

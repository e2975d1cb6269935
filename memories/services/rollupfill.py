"""The history of a vault in one statement: tallies of what is stored take the place of those there are.

What cannot be known any more is left out and not guessed: which writes were duplicates, how long searches took, what
was recalled before the access log begins. An erased memory is known from the audit, which does not say its bank.
"""

from __future__ import annotations

_MEMORIES = """
    SELECT one.vault_id, event.at, event.metric, event.label, one.bank_id, event.n
    FROM memories_memory AS one
    CROSS JOIN LATERAL (SELECT memoryhub_stands(one.status, one.archived_at, one.superseded_by_id) AS stands,
        one.archived_at > one.created_at AS later) AS now
    CROSS JOIN LATERAL (VALUES
        (one.created_at, 'created', now.stands, 1),
        (coalesce(one.event_at, one.created_at), 'mentioned', now.stands, 1),
        (one.created_at, 'standing', CASE WHEN now.later THEN 'active' ELSE now.stands END, 1),
        (one.archived_at, 'standing', 'active', CASE WHEN now.later THEN -1 END),
        (one.archived_at, 'standing', now.stands, CASE WHEN now.later THEN 1 END)) AS event (at, metric, label, n)
    WHERE one.vault_id = %(vault)s AND event.n IS NOT NULL
"""
_ERASED = """
    SELECT came.vault_id, event.at, event.metric, event.label, NULL::uuid, event.n
    FROM banks_auditentry AS came
    LEFT JOIN LATERAL (
        SELECT min(went.at) AS at FROM banks_auditentry went
        WHERE went.vault_id = came.vault_id AND went.target_id = came.target_id AND went.action = 'erase_memory'
    ) AS erased ON true
    CROSS JOIN LATERAL (VALUES
        (came.at, 'created', 'erased', 1),
        (came.at, 'mentioned', 'erased', 1),
        (came.at, 'standing', 'active', CASE WHEN erased.at IS NOT NULL THEN 1 END),
        (erased.at, 'standing', 'active', CASE WHEN erased.at IS NOT NULL THEN -1 END)) AS event (at, metric, label, n)
    WHERE came.vault_id = %(vault)s AND came.target_kind = 'memory' AND came.version_before IS NULL
        AND came.version_after IS NOT NULL AND event.n IS NOT NULL
        AND NOT EXISTS (SELECT FROM memories_memory WHERE id = came.target_id)
"""
_JOBS = """
    SELECT one.vault_id, event.at, event.metric, event.label, NULL::uuid, event.n
    FROM memories_job AS one
    CROSS JOIN LATERAL (SELECT one.state IN ('pending', 'running') AS waits) AS now
    CROSS JOIN LATERAL (VALUES
        (one.created_at, 'waiting', CASE WHEN now.waits THEN one.state ELSE 'pending' END, 1),
        (one.finished_at, 'waiting', 'pending', CASE WHEN NOT now.waits THEN -1 END),
        (one.finished_at, 'ended', one.state, CASE WHEN NOT now.waits THEN 1 END)) AS event (at, metric, label, n)
    WHERE one.vault_id = %(vault)s AND event.n IS NOT NULL AND (now.waits OR one.finished_at IS NOT NULL)
"""
_CALLS = """
    SELECT one.vault_id, one.created_at, event.metric, event.label, NULL::uuid, event.n
    FROM memories_modelcall AS one CROSS JOIN LATERAL (VALUES
        (CASE WHEN one.result = 'skipped' THEN 'skipped' ELSE 'called' END,
         CASE WHEN one.result = 'skipped' THEN one.reason ELSE one.result END, 1),
        ('tokens', 'in', one.tokens_in),
        ('tokens', 'out', one.tokens_out)) AS event (metric, label, n)
    WHERE one.vault_id = %(vault)s AND event.n > 0
"""
_RECALLS = """
    SELECT one.vault_id, lookup.at, 'recalled', memoryhub_stands(one.status, one.archived_at, one.superseded_by_id),
        one.bank_id, 1
    FROM memories_memoryaccess AS given
    JOIN memories_lookup AS lookup ON lookup.id = given.lookup_id
    JOIN memories_memory AS one ON one.id = given.memory_id
    WHERE given.vault_id = %(vault)s AND NOT EXISTS (
        SELECT FROM memories_rollup WHERE vault_id = %(vault)s AND span = 'all' AND metric = 'recalled')
"""
_KNOWN = "ARRAY['created', 'mentioned', 'standing', 'waiting', 'ended', 'called', 'skipped', 'tokens']"
# All parts of one statement see the store at the same moment.
FILL = f"""
    WITH lost AS (
        DELETE FROM memories_tally WHERE vault_id = %(vault)s
            AND (metric = ANY({_KNOWN})
                OR metric = 'recalled' AND NOT EXISTS (
                    SELECT FROM memories_rollup WHERE vault_id = %(vault)s AND span = 'all' AND metric = 'recalled'))
    ), replaced AS (
        DELETE FROM memories_rollup WHERE vault_id = %(vault)s
            AND metric = ANY({_KNOWN})
    ), known (vault_id, at, metric, label, bank_id, n) AS (
        {_MEMORIES} UNION ALL {_ERASED} UNION ALL {_JOBS} UNION ALL {_CALLS} UNION ALL {_RECALLS}
    ), filled AS (
        INSERT INTO memories_rollup (vault_id, span, at, metric, label, cell, n)
        VALUES (%(vault)s, 'all', timestamptz 'epoch', 'filled', '', 0, 1)
        ON CONFLICT ON CONSTRAINT rollup_once DO NOTHING
    )
    INSERT INTO memories_tally (vault_id, at, metric, label, bank_id, n)
    SELECT vault_id, date_trunc('hour', at, 'UTC'), metric, label, bank_id, sum(n) FROM known
    GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0
"""

"""What waits for a person, and how the index is, in one statement: the first page asks on every visit."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection

from banks.access import Access, KeyScope
from memories.models.effective import opened_settings
from memoryhub.lib.clock import now

EXPIRING_WITHIN = dt.timedelta(days=14)
#: How the names of the keys end with which the sample vault was told; whose numbers are invented with it.
SAMPLE = " (sample)"


@dataclass(frozen=True, slots=True)
class Inbox:
    """How much waits beside the review queue; and of the index, what is not in it yet and what could not be.

    ``is_sample``: whether the sample story was told here.
    """

    plans: int
    jobs_failed: int
    jobs_waiting: int
    keys_expiring: int
    keys: int
    keys_used: int
    is_sample: bool
    not_indexed: int
    index_failed: int
    has_graph: bool
    postgres: str
    pgvector: str


def read_inbox(access: Access) -> Inbox:
    """Plans that can be applied, jobs, keys that end within 14 days, and the index. Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    days = opened_settings(access)["cleanup_plan_days"]
    given: dict[str, Any] = {
        "vault": access.vault_id,
        "planned_after": now() - dt.timedelta(days=days),
        "now": now(),
        "soon": now() + EXPIRING_WITHIN,
        "sample": f"%{SAMPLE}",
    }
    with connection.cursor() as cursor:
        cursor.execute(_INBOX, given)
        row: tuple[Any, ...] = cursor.fetchone()
    found = Inbox(*row)
    return replace(found, postgres=found.postgres.split(" ", maxsplit=1)[0])


_INBOX = """
    SELECT
        (SELECT count(*) FROM memories_cleanupplan
         WHERE vault_id = %(vault)s AND state = 'ready' AND count > 0 AND created_at > %(planned_after)s),
        jobs.failed, jobs.waiting, keys.expiring, keys.live, keys.used, keys.sample, index.waiting, index.failed,
        EXISTS (SELECT FROM memories_vaultspace WHERE vault_id = %(vault)s AND is_active AND has_graph),
        current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')
    FROM (
        SELECT count(*) FILTER (WHERE state = 'dead') AS failed,
            count(*) FILTER (WHERE state IN ('pending', 'running')) AS waiting
        FROM memories_job WHERE vault_id = %(vault)s
    ) AS jobs, (
        SELECT count(*) FILTER (WHERE expires_at BETWEEN %(now)s AND %(soon)s) AS expiring, count(*) AS live,
            count(*) FILTER (WHERE last_used_at IS NOT NULL) AS used,
            coalesce(bool_or(name LIKE %(sample)s), false) AS sample
        FROM banks_apikey
        WHERE vault_id = %(vault)s AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > %(now)s)
    ) AS keys, (
        SELECT count(*) FILTER (WHERE index_state = 'pending') AS waiting,
            count(*) FILTER (WHERE index_state = 'failed') AS failed
        FROM memories_memory WHERE vault_id = %(vault)s AND index_state IN ('pending', 'failed')
    ) AS index
"""

"""What a command says of a data migration when it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memories.rules.datamigrations import MigrationState

if TYPE_CHECKING:
    from banks.models import Vault
    from memories.models import MigrationRecord


def tell_move(say: Callable[[str], object], vault: Vault, record: MigrationRecord) -> bool:
    """Say how it went, or that the workers have it; whether nothing is wrong."""
    what = f"{vault.name}: {record.app.replace('_', ' ')} ({record.name})"
    match MigrationState(record.state):
        case MigrationState.RUNNING:
            say(f"{what} is with the workers; see Migrations or GET /api/v1/migrations.")
        case MigrationState.DONE:
            seconds = (record.duration_ms or 0.0) / 1000
            rate = f", {record.rows_done / seconds:,.0f} a second" if seconds else ""
            say(f"{what}: {record.rows_done:,} rows in {seconds:,.1f} s{rate}. {record.error}".rstrip())
        case state:
            say(f"{what} {state}: {record.error or 'start it again, it goes on where it stopped'}")
            return False
    return True

"""Django's ``migrate``, mirrored into the hub's own ledger as it runs (MIG-12, MIG-13)."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.commands.migrate import Command as Migrate

from banks.services.sealguard import guard_sealed_tables
from memories.management.migrationstate import options_in_place
from memories.services.ledger import AppliedMigration, record_migrations


class Command(Migrate):
    """Times every migration and, once the ledger's table is there, writes them down with their description."""

    def handle(self, *args: Any, **options: Any) -> None:
        self.applied: list[AppliedMigration] = []
        try:
            with options_in_place():
                super().handle(*args, **options)
            guard_sealed_tables()
        finally:
            # Also when a later step failed: those before it are there to stay, each in a transaction of its own.
            record_migrations(self.applied)

    def migration_progress_callback(self, action: str, migration: Any = None, fake: bool = False) -> None:
        super().migration_progress_callback(action, migration, fake)
        if action == "apply_start":
            self.began = time.time()
        elif action == "apply_success":
            about = (type(migration).__doc__ or migration.__doc__ or "").strip().splitlines()
            description = about[0] if about else ", ".join(op.describe() for op in migration.operations)
            description = description or "Changes no table"
            self.applied.append(
                AppliedMigration(migration.app_label, migration.name, description, self.began, time.time())
            )

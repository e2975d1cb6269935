"""The ledger of migrations, for people and the API."""

from __future__ import annotations

from banks.access import Access, KeyScope
from memories.models import Changeset, MigrationRecord


def list_migrations(access: Access) -> list[MigrationRecord]:
    """What changed the store and when, newest first (MIG-12). Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    return list(MigrationRecord.objects.order_by("-started_at", "-id"))


def list_changesets(access: Access, limit: int = 100) -> list[Changeset]:
    """The vault's newest changesets. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    return list(Changeset.objects.filter(vault_id=access.vault_id).order_by("-created_at")[:limit])

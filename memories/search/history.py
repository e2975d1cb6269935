"""The ledger of migrations, for people and the API."""

from __future__ import annotations

from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import MigrationRecord


def list_migrations(access: Access) -> list[MigrationRecord]:
    """What changed the store and this vault's data, and when, newest first (MIG-12). Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    mine = Q(vault_id=None) | Q(vault_id=access.vault_id)
    return list(MigrationRecord.objects.filter(mine).order_by("-started_at", "-id"))

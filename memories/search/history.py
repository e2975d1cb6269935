"""The ledger of migrations, for people and the API."""

from __future__ import annotations

from django.db.models import Q

from banks.access import Access, KeyScope
from memories.models import MigrationRecord


def list_migrations(access: Access) -> list[MigrationRecord]:
    """What changed the store and this vault's data, and when, newest first (MIG-12). Needs ops:read.

    A caller that reaches only a part of the vault sees what changed the store.
    """
    access.require(KeyScope.OPS_READ)
    shown = Q(vault_id=None)
    if access.reaches_whole_vault:
        shown |= Q(vault_id=access.vault_id)
    return list(MigrationRecord.objects.filter(shown).order_by("-started_at", "-id"))

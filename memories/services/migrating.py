"""Start a data migration of a vault; a job does it, and the ledger says how far it is (MIG-12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from memories.index.spaces import name_of, wanted_space
from memories.models import Job, MigrationRecord
from memories.rules.datamigrations import DataMigration, SpaceName
from memories.services.reembedding import active_name, start_reembed
from memories.services.reindexing import start_reindex
from memories.services.resealing import start_reseal
from memoryhub.providers.registry import known_embedders


def migration_jobs(access: Access, records: Sequence[MigrationRecord]) -> dict[UUID, Job]:
    """The job of each data migration that still has one. Needs ops:write or ops:read."""
    if not access.has(KeyScope.OPS_WRITE):
        access.require(KeyScope.OPS_READ)
    wanted = [str(record.pk) for record in records if record.vault_id is not None]
    jobs = Job.objects.filter(vault_id=access.vault_id, ref__migration__in=wanted) if wanted else []
    return {UUID(job.ref["migration"]): job for job in jobs}


@dataclass(frozen=True, slots=True)
class Movable:
    """Where the vault is, where the environment wants it, where it could go, and its newest data key."""

    space: SpaceName | None
    wanted: SpaceName | None
    targets: tuple[SpaceName, ...]
    data_key: int


def what_can_move(access: Access) -> Movable:
    """What a migration could move the vault to. Needs ops:read."""
    access.require(KeyScope.OPS_READ)
    space = active_name(access)
    targets = dict.fromkeys(name_of(embedder) for embedder in known_embedders())
    return Movable(
        space=space,
        wanted=wanted_space(space),
        targets=tuple(name for name in targets if space is None or not name.fits(space)),
        data_key=access.keys.active,
    )


def start_migration(access: Access, kind: DataMigration, target: str | None = None) -> MigrationRecord:
    """Begin to re-embed (into ``target``), reseal or re-index the vault; its entry in the ledger. Needs ops:write.

    Raises MigrationRunning, WholeVaultNeeded, Invalid for a target there is not.
    """
    access.require(KeyScope.OPS_WRITE)
    access.require_whole_vault()
    with transaction.atomic():
        match kind:
            case DataMigration.REEMBED:
                return start_reembed(access, target)
            case DataMigration.RESEAL:
                return start_reseal(access)
            case DataMigration.REINDEX:
                return start_reindex(access)

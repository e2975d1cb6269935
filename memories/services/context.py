"""What a write needs to know beforehand, fetched once for one memory or a batch of 500."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import structlog
from django.db import connection

from banks.access import Access
from banks.models import Bank
from banks.services.banks import pick_bank, pick_default, remembered_banks
from memories.index.spaces import ActiveSpace, active_space
from memories.models.effective import config_version, has_own_settings, remembered_settings
from memoryhub.lib.crypto import keyed_hash
from memoryhub.lib.text import content_fingerprint
from memoryhub.providers.base import ProviderError
from memoryhub.providers.registry import get_embedder

log = structlog.get_logger(__name__)
HASH_BYTES = 16


@dataclass
class WriteContext:
    """The caller, its settings, the banks it names and the space vectors go to; remembered by ``config_version``."""

    access: Access
    config_version: int

    @classmethod
    def of(cls, access: Access) -> WriteContext:
        """The context of a change that is no new write."""
        return cls(access, config_version(access.vault_id))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Setting → value."""
        return remembered_settings(self.access, self.config_version)

    def settings_in(self, bank_id: UUID) -> dict[str, Any]:
        """The same in one bank, which may have settings of its own (CFG-02)."""
        if not has_own_settings(self.access.vault_id, self.config_version, bank_id):
            return self.settings
        return remembered_settings(self.access, self.config_version, bank_id)

    @cached_property
    def wants_vectors(self) -> bool:
        """Whether memories of this vault are to have vectors at all."""
        return bool(self.settings["embeddings"]) and get_embedder() is not None

    @cached_property
    def space(self) -> ActiveSpace | None:
        """Where vectors go; None without vectors, and while the space is unknown or another embedder's."""
        if not self.wants_vectors:
            return None
        try:
            return active_space(self.access.vault_id, self.config_version)
        except ProviderError as error:
            log.warning("space_unknown", vault_id=str(self.access.vault_id), error=error.code)
            return None

    def bank(self, name: str | None) -> Bank:
        """The bank with that name, or the default one. Raises UnknownBank naming the banks there are."""
        banks = remembered_banks(self.access.vault_id, self.config_version)
        return pick_default(self.access, banks) if name is None else pick_bank(self.access, banks, name)

    def content_hash(self, content: str) -> bytes:
        """What equal texts share: a keyed hash of the normalised text."""
        return keyed_hash(self.access.keys.dedup, content_fingerprint(content).encode(), HASH_BYTES)


def extend_documents(vault_id: UUID, count: int) -> int:
    """The first of ``count`` more document numbers, handed out in the running transaction (a memory that grew)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE banks_vault SET next_doc_no = next_doc_no + %s WHERE id = %s RETURNING next_doc_no",
            [count, vault_id],
        )
        (after,) = cursor.fetchone()
    return int(after) - count


@dataclass(frozen=True, slots=True)
class Allocation:
    """The first of the document numbers handed out, and the version of the vault's configuration at that moment."""

    first_doc_no: int
    config_version: int


def allocate_documents(vault_id: UUID, count: int) -> Allocation:
    """Hand out ``count`` integer document numbers of the vault; numbers of writes that fail stay unused.

    A short commit of its own, without waiting for the disk: holding the counter's row until the write commits would
    make all writers of a vault queue. The write's own commit makes this one durable too, since WAL is one sequence.
    Inside somebody's transaction there is no such commit, and theirs must wait for the disk before it is acknowledged.
    """
    without_waiting = "FROM (SELECT set_config('synchronous_commit', 'off', true)) AS without_waiting "
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE banks_vault SET next_doc_no = next_doc_no + %s "
            f"{'' if connection.in_atomic_block else without_waiting}"
            "WHERE id = %s RETURNING next_doc_no, config_version",
            [count, vault_id],
        )
        after, version = cursor.fetchone()
    return Allocation(int(after) - count, int(version))

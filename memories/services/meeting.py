"""Which memories a write meets: those with its external ids, and live ones with its content; and which count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from banks.access import Access
from memories.models import Memory
from memories.rules.dedup import Equal, among_equals
from memories.rules.vocabulary import Scope, Status
from memories.services.comparing import Comparing
from memories.services.preparing import identity_of
from memoryhub.lib.clock import now

# Plain SQL in two halves, because each half has an index of its own and an OR over both has none.
_MEETING = """
    SELECT id FROM memories_memory WHERE vault_id = %(vault)s AND external_write_id = ANY(%(external)s)
    UNION
    SELECT id FROM memories_memory WHERE vault_id = %(vault)s AND content_hash = ANY(%(hashes)s::bytea[])
       AND content_hash IS NOT NULL AND archived_at IS NULL AND superseded_by_id IS NULL AND NOT status = 'discard'
"""


def meeting(access: Access, external_ids: Sequence[str], content_hashes: Sequence[bytes]) -> list[UUID]:
    """Ids of the memories that have one of the external ids, or live with one of the content hashes."""
    if not external_ids and not content_hashes:
        return []
    named: dict[str, Any] = {"vault": access.vault_id, "external": list(external_ids), "hashes": list(content_hashes)}
    with connection.cursor() as cursor:
        cursor.execute(_MEETING, named)
        return [memory_id for (memory_id,) in cursor.fetchall()]


@dataclass
class Met:
    """What a write has met or made so far, as it is now: by external id, by equality, and to be compared with."""

    comparing: Comparing
    #: Locked rows as they are now; one that this write changes is taken out.
    held: set[UUID] = field(default_factory=set)
    _by_external_id: dict[str, Memory] = field(default_factory=dict)
    _by_identity: dict[tuple[Any, ...], dict[UUID, Memory]] = field(default_factory=dict)
    #: Under which identity each is kept: the row itself may have changed since.
    _identities: dict[UUID, tuple[Any, ...]] = field(default_factory=dict)

    def named(self, new: Memory) -> Memory | None:
        """The one with the external id of ``new``."""
        return self._by_external_id.get(new.external_write_id or "")

    def equal(self, new: Memory) -> tuple[Memory | None, list[Memory]]:
        """The live one that ``new`` is exactly a duplicate of, else those that make room for it."""
        access, there = self.comparing.context.access, self._by_identity.get(identity_of(new) or (), {})
        equals = [
            Equal(row.pk, row.bank_id, is_seen=may_see(access, row), has_expired=has_expired(row))
            for row in there.values()
        ]
        twin, ended = among_equals(equals, new.bank_id)
        return (None if twin is None else there[twin]), [there[one] for one in ended]

    def hold(self, row: Memory) -> None:
        """``row`` is locked, or this write's own."""
        self.held.add(row.pk)
        self._keep(row)

    def renew(self, row: Memory) -> None:
        """``row`` was changed: what comes after it meets this version."""
        self._keep(row)
        if row.pk in self.comparing.there:
            self.comparing.there[row.pk] = row
        for one in self.comparing.written:
            if one.memory.pk == row.pk:
                one.memory = row

    def forget(self, row: Memory) -> None:
        """``row`` is archived or says something else: nothing is a duplicate of what it was; its id stays its own."""
        self._drop(row)
        self.held.discard(row.pk)
        self.comparing.forget(row)

    def _keep(self, row: Memory) -> None:
        self._drop(row)
        if row.external_write_id:
            self._by_external_id[row.external_write_id] = row
        identity = identity_of(row)
        if identity is not None and is_live(row):
            self._by_identity.setdefault(identity, {})[row.pk] = row
            self._identities[row.pk] = identity

    def _drop(self, row: Memory) -> None:
        identity = self._identities.pop(row.pk, ())
        self._by_identity.get(identity, {}).pop(row.pk, None)


def says_the_same(access: Access, memory: Memory) -> bool:
    """Whether another live memory that the caller sees has exactly this content, in whatever bank."""
    identity = identity_of(memory)
    if identity is None:
        return False
    rows = Memory.objects.visible_to(access).live().filter(superseded_by=None, content_hash=memory.content_hash)
    return any(identity_of(row) == identity for row in rows.exclude(pk=memory.pk))


def is_live(row: Memory) -> bool:
    """Neither archived nor discarded nor replaced: it may be a duplicate's older half."""
    return row.archived_at is None and row.superseded_by_id is None and row.status != Status.DISCARD


def may_see(access: Access, row: Memory) -> bool:
    """``visible_to`` for a row in hand."""
    if not access.may_use_bank(row.bank_id):
        return False
    if access.agent is None or row.agent_id == access.agent_id:
        return True
    return row.scope == Scope.GLOBAL and not access.agent.is_isolated


def has_expired(row: Memory) -> bool:
    """Whether its time is over, though nobody archived it yet."""
    return row.expires_at is not None and row.expires_at <= now()

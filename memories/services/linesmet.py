"""What the memories of a file are to the vault: new, here already, or here and saying something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from banks.access import Access
from memories.models import ChangesetItem, Memory
from memories.rules.exchange import MemoryLine, id_in
from memories.rules.imports import Found
from memories.rules.vocabulary import Scope
from memories.services.context import WriteContext
from memories.services.meeting import may_see, meeting
from memories.services.preparing import identity_of
from memories.services.revising import SAID, differs

#: What a line and a memory are compared by; the bank by its name.
_COMPARED = [name for name in SAID if name != "bank_id"]


@dataclass
class Lines:
    """The memory lines of one chunk, with the ids they have here and the memories they met."""

    lines: Sequence[MemoryLine]
    ids: Mapping[UUID, UUID]
    met: dict[UUID, Memory] = field(default_factory=dict)
    #: Lines whose text is here under another id → that memory.
    twins: dict[UUID, Memory] = field(default_factory=dict)
    #: Memories that an import brought and that its undo put away: they come in again.
    undone: set[UUID] = field(default_factory=set)

    def found(self, line: MemoryLine) -> Found:
        """What a line is to the vault."""
        if line.id in self.twins:
            return Found.SAME
        known = self.met.get(line.id)
        if known is None or self.returns(line):
            return Found.NEW
        return Found.CHANGED if values_to_change(line, known) else Found.SAME

    def returns(self, line: MemoryLine) -> bool:
        """Whether a line brings back what the undo of an import put away."""
        known = self.met.get(line.id)
        return known is not None and line.is_live and known.pk in self.undone


def meet_lines(context: WriteContext, home: UUID | None, lines: Sequence[MemoryLine]) -> Lines:
    """Look all of them up at once: by their ids here, by external id, and live ones by their text."""
    access = context.access
    ids = {line.id: id_in(access.vault_id, line.id) for line in lines}
    # A file of this very vault names its memories by the ids they have.
    at_home = [line.id for line in lines if home == access.vault_id]
    known = {row.pk: row for row in _rows(access, [*ids.values(), *at_home])}
    met = {line.id: known.get(ids[line.id]) or known.get(line.id) for line in lines}
    found = Lines(lines, ids, {line_id: row for line_id, row in met.items() if row is not None})
    open_lines = [line for line in lines if line.id not in found.met]
    hashes = {line.id: context.content_hash(line.content) for line in open_lines if line.is_live and line.dedup}
    external = [line.external_write_id for line in open_lines if line.external_write_id]
    rows = _rows(access, meeting(access, external, list(hashes.values())))
    named = {row.external_write_id: row for row in rows if row.external_write_id}
    equal = {identity_of(row): row for row in rows}
    for line in open_lines:
        if line.external_write_id in named:
            found.met[line.id] = named[line.external_write_id]
        elif line.id in hashes and (twin := equal.get(identity_in(access, line, hashes[line.id]))) is not None:
            found.twins[line.id] = twin
    found.undone = _undone(found.met.values())
    return found


def _undone(rows: Iterable[Memory]) -> set[UUID]:
    """Those that were made by an import, put away by its undo, and left so."""
    away = [row.pk for row in rows if row.archived_at is not None and not differs(row, "archived_reason", "undone")]
    made = ChangesetItem.objects.filter(memory_id__in=away, version_before=0, undone_at__isnull=False)
    return set(made.filter(changeset__action="import_vault").values_list("memory_id", flat=True))


def identity_in(access: Access, line: MemoryLine, content_hash: bytes) -> tuple[Any, ...]:
    """What `identity_of` gives for the row the line would become."""
    isolated = access.agent is not None and access.agent.is_isolated
    owner = line.agent_id if isolated or line.scope == Scope.AGENT else None
    return (content_hash, line.type.value, line.user_id, tuple(line.namespace), line.scope.value, owner)


def values_to_change(line: MemoryLine, known: Memory) -> dict[str, Any]:
    """What a memory would have to become to say what the line says."""
    said = {name: getattr(line, name) for name in _COMPARED}
    said = {name: getattr(value, "value", value) for name, value in said.items()}
    return {name: value for name, value in said.items() if differs(known, name, value)}


def _rows(access: Access, ids: Sequence[UUID]) -> list[Memory]:
    rows = Memory.objects.in_vault(access.vault_id).filter(pk__in=ids).select_related("bank")
    return [row for row in rows if may_see(access, row)]

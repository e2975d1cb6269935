"""Imported memories become rows: through the ordinary write, then with what became of them since (MIG-13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from banks.services.banks import UnknownBank
from memories.models import Changeset, ChangesetItem, ImportChunk, Memory, VaultImport
from memories.rules.drafts import MemoryDraft
from memories.rules.exchange import MemoryLine, id_in, refused
from memories.rules.imports import Found, Tally
from memories.rules.trust import lower
from memories.rules.vocabulary import Outcome, SourceKind, Trust
from memories.services.changesets import Moved, record_items
from memories.services.context import WriteContext
from memories.services.linesmet import Lines, identity_in, meet_lines, values_to_change
from memories.services.preparing import Told
from memories.services.revising import Change, DuplicateContent, change_memory, locked_memory
from memories.services.writing import Written, write_batch
from memoryhub.lib.errors import HubError

_DRAFT = frozenset(MemoryDraft.model_fields) - {"supersedes", "vault_id", "dedup", "source_kind"}


@dataclass
class Bringing:
    """One chunk on its way: the context of whoever asked, the import, and what was counted before this chunk."""

    context: WriteContext
    owner: VaultImport
    before: Tally
    tally: Tally = field(init=False)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Count this chunk from the beginning: a write that lost a race is tried again."""
        self.tally = self.before.copy()

    def id_here(self, source: UUID) -> UUID:
        """The id of this vault for an id of the file."""
        return id_in(self.context.access.vault_id, source)

    @property
    def keeps_provenance(self) -> bool:
        """Whether source and trust stay as the file says."""
        return bool(self.owner.options["keep_provenance"])


def write_lines(
    bringing: Bringing, chunk: ImportChunk, numbered: Sequence[tuple[int, MemoryLine]], commit: Callable[[], None]
) -> None:
    """Write the memories of one chunk in one transaction, together with ``commit``; what is here already stays.

    Raises WriteContended, and what ``commit`` raises.
    """
    lines = meet_lines(bringing.context, bringing.owner.home, [line for _, line in numbered])
    returning = [(number, line) for number, line in numbered if lines.returns(line)]
    fresh = [(number, line) for number, line in numbered if lines.found(line) == Found.NEW and not lines.returns(line)]
    changed = [line for _, line in numbered if lines.found(line) == Found.CHANGED]

    def together(results: Written) -> None:
        bringing.begin()
        settled = _settle(bringing, lines, [line for _, line in fresh], results, becoming)
        back = list(_bring_back(bringing, lines, returning))
        moved = [*settled, *_overwrite(bringing, lines, changed), *back]
        _record(bringing.owner.changeset, moved)
        _remember_twins(chunk, lines, [line for _, line in fresh], results)
        _count(bringing.tally, fresh, results)
        bringing.tally.add("memory", Found.SAME, len(numbered) - len(fresh) - len(changed) - len(returning))
        updates = bringing.owner.options["update"]
        bringing.tally.add("memory", Found.UPDATED if updates else Found.CHANGED, len(changed))
        commit()

    ids = [lines.ids[line.id] for _, line in fresh]
    becoming = _Becoming(bringing, {lines.ids[line.id]: line for _, line in fresh})
    told = Told(ids, becoming)
    write_batch(bringing.context.access, [_draft(bringing, line) for _, line in fresh], together, told)


def _count(tally: Tally, fresh: Sequence[tuple[int, MemoryLine]], results: Written) -> None:
    for (number, _), result in zip(fresh, results, strict=True):
        if isinstance(result, HubError):
            tally.refuse("memory", refused(number, result))
        else:
            tally.add("memory", Found.NEW if _is_new(result.outcome) else Found.SAME)


def _draft(bringing: Bringing, line: MemoryLine) -> MemoryDraft:
    """What a caller would send; a memory that is not live competes with nobody for its text."""
    values = {name: getattr(line, name) for name in _DRAFT}
    source = line.source_kind if bringing.keeps_provenance else None
    compared = bool(bringing.owner.options["dedup"]) and line.is_live and line.dedup is not False
    return MemoryDraft.model_construct(**values, source_kind=source or SourceKind.IMPORT, dedup=compared)


def _is_new(outcome: Outcome) -> bool:
    return outcome in {Outcome.CREATED, Outcome.SUPERSEDED}


class _Becoming:
    """Gives rows that are about to be inserted what became of them since they were first written."""

    def __init__(self, bringing: Bringing, lines: Mapping[UUID, MemoryLine]) -> None:
        self._bringing, self._lines = bringing, lines
        self._access = bringing.context.access
        #: The live row that has a text first; another attempt of the same chunk finds itself.
        self._first: dict[tuple[Any, ...], UUID] = {}

    def __call__(self, memory: Memory) -> None:
        line = self._lines.get(memory.pk)
        if line is not None:
            for name, value in self.values_of(line, memory.pk).items():
                setattr(memory, name, value)

    def values_of(self, line: MemoryLine, memory_id: UUID) -> dict[str, Any]:
        """Field → value."""
        values: dict[str, Any] = {
            "version": line.version,
            "updated_at": line.updated_at,
            "archived_at": line.archived_at or (line.updated_at if line.superseded_by else None),
            "archived_reason": line.archived_reason,
            "content_hash": self._hash_of(line, memory_id),
            "is_summarized": line.is_summarized,
            "last_confirmed_at": line.last_confirmed_at,
            "last_accessed_at": line.last_accessed_at,
            "access_count": line.access_count,
        }
        if self._bringing.keeps_provenance:
            ceiling = Trust(self._access.agent.trust_ceiling) if self._access.agent else Trust.VERIFIED
            values["trust"] = lower(line.trust, ceiling).value
        if line.summarized_from:
            values["summarized_from"] = [self._bringing.id_here(source) for source in line.summarized_from]
        return values

    def _hash_of(self, line: MemoryLine, memory_id: UUID) -> bytes | None:
        """None where the same text stands twice in one file: both stay, as with dedup off."""
        if line.dedup is False:
            return None
        content_hash = self._bringing.context.content_hash(line.content)
        if not line.is_live:
            return content_hash
        first = self._first.setdefault(identity_in(self._access, line, content_hash), memory_id)
        return content_hash if first == memory_id else None


def _settle(
    bringing: Bringing, lines: Lines, fresh: Sequence[MemoryLine], results: Written, becoming: _Becoming
) -> list[Moved]:
    """The versions around everything that moved; rows that took another's place get what became of them here."""
    moved, retired = [], []
    for line, result in zip(fresh, results, strict=True):
        if isinstance(result, HubError):
            continue
        if result.superseded_id is not None:
            retired.append(result.superseded_id)
        if not _is_new(result.outcome) or result.memory.pk != lines.ids[line.id]:
            continue
        moved.append(Moved(result.memory.pk, 0, line.version))
        if result.outcome == Outcome.SUPERSEDED:
            becoming(result.memory)
            names = list(becoming.values_of(line, result.memory.pk))
            result.memory.save(update_fields=names)
    after = Memory.objects.filter(pk__in=retired).values_list("pk", "version")
    return [*moved, *(Moved(old, version - 1, version) for old, version in after)]


def _overwrite(bringing: Bringing, lines: Lines, changed: Sequence[MemoryLine]) -> Iterable[Moved]:
    """Make the memories that are here say what the file says, if that was asked for."""
    if not bringing.owner.options["update"]:
        return
    for line in sorted(changed, key=lambda one: lines.met[one.id].pk):
        memory = locked_memory(bringing.context.access, lines.met[line.id].pk)
        before, values = memory.version, values_to_change(line, memory)
        change_memory(bringing.context, memory, Change("import_vault", values, "", bringing.owner.changeset.pk))
        yield Moved(memory.pk, before, memory.version)


def _bring_back(bringing: Bringing, lines: Lines, returning: Sequence[tuple[int, MemoryLine]]) -> Iterable[Moved]:
    """Import again what an undo put away, as the file says it now; where its text lives elsewhere it stays away."""
    context, tally = bringing.context, bringing.tally
    for number, line in sorted(returning, key=lambda one: lines.met[one[1].id].pk):
        memory = locked_memory(context.access, lines.met[line.id].pk)
        before, back = memory.version, {"archived_at": None, "archived_reason": None}
        try:
            values = {**values_to_change(line, memory), **back, "bank_id": context.bank(line.bank).pk}
            with transaction.atomic():
                change_memory(context, memory, Change("import_vault", values, "", bringing.owner.changeset.pk))
        except DuplicateContent:
            tally.add("memory", Found.SAME)
        except UnknownBank as error:
            tally.refuse("memory", refused(number, error))
        else:
            tally.add("memory", Found.NEW)
            yield Moved(memory.pk, before, before + 1)


def _record(changeset: Changeset, moved: Sequence[Moved]) -> None:
    """One item a memory: what moves a second time, because a later line replaced it, ends at its last version."""
    latest = {one.memory_id: one for one in moved}
    known = set(
        ChangesetItem.objects.filter(changeset=changeset, memory_id__in=latest).values_list("memory", flat=True)
    )
    for memory_id in known:
        ChangesetItem.objects.filter(changeset=changeset, memory_id=memory_id).update(
            version_after=latest[memory_id].version_after
        )
    first = {one.memory_id: one for one in reversed(moved)}
    record_items(
        changeset,
        [one._replace(version_before=first[key].version_before) for key, one in latest.items() if key not in known],
    )


def _remember_twins(chunk: ImportChunk, lines: Lines, fresh: Sequence[MemoryLine], results: Written) -> None:
    """Which memories of the file are here under another id, for the links that name them."""
    here = {line_id: row.pk for line_id, row in (lines.met | lines.twins).items()}
    for line, result in zip(fresh, results, strict=True):
        if not isinstance(result, HubError):
            here[line.id] = result.memory.pk
    twins = {str(lines.ids[key]): str(pk) for key, pk in here.items() if pk != lines.ids[key]}
    if twins:
        ImportChunk.objects.filter(pk=chunk.pk).update(twins=twins)

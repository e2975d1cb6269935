"""Read the dream diary (TIE-07, TIE-19). What a dream did to a line is shown to whoever may read where it came from."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, fields
from uuid import UUID

from banks.access import Access, KeyScope
from memories.models import Dream, Job
from memories.rules.consolidation import Change
from memories.rules.tiermarkdown import DiaryHead
from memories.search.notes import DEFAULT
from memories.search.reach import known_to, within
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id


@dataclass(frozen=True, slots=True)
class DreamLine:
    """A dream without its diary: the row's fields under their names."""

    id: UUID
    namespace: list[str]
    state: str
    reason: str
    lookback_days: int
    is_scheduled: bool
    by_model: bool
    counts: dict[str, int]
    version_before: int | None
    version_after: int | None
    job_id: UUID | None
    created_at: dt.datetime
    finished_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class DiaryEntry:
    """A dream with what the caller may read of its diary; ``job`` while there is one."""

    dream: DreamLine
    changes: list[Change]
    job: Job | None

    @property
    def head(self) -> DiaryHead:
        """What stands above the changes."""
        dream = self.dream
        return DiaryHead(
            date=(dream.finished_at or dream.created_at).date(),
            notes_read=dream.counts.get("read", 0),
            lookback_days=dream.lookback_days,
            by_model=dream.by_model,
            version_before=dream.version_before,
            version_after=dream.version_after,
        )


def list_dreams(
    access: Access, namespace: Sequence[str] | None = DEFAULT, limit: int = 50, before: UUID | None = None
) -> list[DreamLine]:
    """The newest dreams of a namespace (None: of all), or those before one, without diaries. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    rows = Dream.objects.filter(vault_id=access.vault_id)
    rows = rows.filter(namespace=list(namespace)) if namespace is not None else rows
    rows = rows.filter(pk__lt=before) if before else rows
    newest = rows.order_by("-pk")[:limit]  # ids are handed out in the order of time
    return [DreamLine(*values) for values in newest.values_list(*_FIELDS)]


_FIELDS = tuple(field.name for field in fields(DreamLine))


def get_dream(access: Access, dream_id: str | UUID) -> DiaryEntry:
    """One dream with its diary. Needs memories:read. Raises NotFound."""
    access.require(KeyScope.MEMORIES_READ)
    dream = Dream.objects.filter(vault_id=access.vault_id, pk=parse_id(dream_id)).first()
    if dream is None:
        raise NotFound("There is no such dream in this vault.")
    changes = [Change.read(change) for change in dream.diary]
    known = known_to(access, (one for change in changes for one in change.memory_ids))
    job = Job.objects.filter(vault_id=access.vault_id, pk=dream.job_id).first() if dream.job_id else None
    told = DreamLine(*(getattr(dream, name) for name in _FIELDS))
    return DiaryEntry(told, [change for change in changes if within(change.memory_ids, known)], job)

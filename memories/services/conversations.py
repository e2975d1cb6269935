"""Bring conversations in, so that bringing them in again changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import batched

from banks.access import Access, KeyScope
from banks.services.banks import find_bank
from memories.models import MigrationRecord
from memories.rules.conversations import Conversation, ImportChoices, drafts_of
from memories.rules.limits import BATCH_MAX
from memories.rules.vocabulary import Outcome
from memories.services.writing import write_batch
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id, short_id


@dataclass(frozen=True, slots=True)
class ImportReport:
    """How many turns became memories, changed theirs, met an equal one, or were there already; which failed and why."""

    created: int
    updated: int
    duplicates: int
    unchanged: int
    failed: tuple[str, ...]

    @property
    def changed_something(self) -> bool:
        """Whether the vault is different now."""
        return bool(self.created or self.updated)


def import_conversations(
    access: Access,
    conversations: Sequence[Conversation],
    choices: ImportChoices,
    advance: Callable[[int], None] = lambda done: None,
) -> ImportReport:
    """Every turn as a memory, in batches; `advance` is told how many turns each batch had.

    An interrupted import is continued by running it again: turns are recognised by their ids (IDM-01). Needs import
    and memories:write. Raises Invalid for a turn no memory can hold, UnknownBank.
    """
    access.require(KeyScope.IMPORT, KeyScope.MEMORIES_WRITE)
    if choices.bank is not None:
        find_bank(access, choices.bank)
    drafts = list(drafts_of(conversations, choices))
    counts: Counter[Outcome] = Counter()
    failed: list[str] = []
    started, state = now(), "failed"
    try:
        for batch in batched(drafts, BATCH_MAX):
            for draft, result in zip(batch, write_batch(access, batch), strict=True):
                if isinstance(result, HubError):
                    failed.append(f"{draft.external_write_id}: {result.message}")
                else:
                    counts[result.outcome] += 1
            advance(len(batch))
        state = "done"
    finally:
        changed = counts[Outcome.CREATED] + counts[Outcome.UPDATED]
        if changed:
            MigrationRecord.objects.create(
                kind="data",
                app="memories",
                name=f"import_conversations {short_id(new_id())}",
                description=f"Imported {len(conversations)} conversations into vault {short_id(access.vault_id)}.",
                state=state,
                rows_done=counts.total(),
                rows_total=len(drafts),
                started_at=started,
                finished_at=now(),
                duration_ms=(now() - started).total_seconds() * 1000,
            )
    return ImportReport(
        created=counts[Outcome.CREATED],
        updated=counts[Outcome.UPDATED],
        duplicates=counts[Outcome.DUPLICATE],
        unchanged=counts[Outcome.IDEMPOTENT],
        failed=tuple(failed),
    )

"""Summaries that go again: undone by a person, or erased because they hold the text of what is erased."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from memories.models import ClusterSummary, Link, Memory
from memories.rules.vocabulary import Relation
from memories.services.context import WriteContext
from memories.services.revising import Change, DuplicateContent, change_memory
from memories.services.undoing import UndoReport, undo_changeset
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id

REASON = "the summary that stood for it was erased"


def undo_summary(access: Access, summary_id: str | UUID) -> UndoReport:
    """Archive one summary and bring its sources back, as far as none was changed since. Needs memories:write.

    ``summary_id`` is the memory's. Raises NotFound, ChangesetUndone, UndoExpired.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    seen = Memory.objects.visible_to(access).filter(pk=parse_id(summary_id), is_summarized=True)
    made = ClusterSummary.objects.select_related("memory").filter(vault_id=access.vault_id, memory__in=seen).first()
    if made is None or made.changeset_id is None:
        raise NotFound("There is no such summary in this vault.")
    return undo_changeset(access, made.changeset_id, [made.memory_id, *made.memory.summarized_from])


def summaries_of(access: Access, memory_ids: Collection[UUID]) -> set[UUID]:
    """The summaries that were made of any of these memories, also archived ones: what else has to be erased.

    Asked in the transaction of the erasure, before its rows go.
    """
    made = Link.objects.filter(vault_id=access.vault_id, target_id__in=memory_ids, source__is_summarized=True)
    return set(made.filter(relation=Relation.DERIVED_FROM.value).values_list("source_id", flat=True))


def forget_summaries(access: Access, memory_ids: Collection[UUID]) -> int:
    """Bring back what stays of the sources of summaries that are being erased because of another source of theirs.

    ``memory_ids``: everything that goes, summaries included. How many notes about summaries were removed. The sources
    of a summary that was archived, or that is erased for itself, stay as they are: somebody decided about that text.
    Called in the transaction of the erasure, before its rows go.
    """
    gone = set(memory_ids)
    context = WriteContext.of(access)
    for row in returning_sources(access, gone):
        try:
            with transaction.atomic():
                values = {"archived_at": None, "archived_reason": None}
                change_memory(context, row, Change("restore_memory", values, REASON))
        except DuplicateContent:
            continue  # an equal memory lives: nothing is missing
    return ClusterSummary.objects.filter(vault_id=access.vault_id, memory_id__in=gone).delete()[0]


def returning_sources(access: Access, memory_ids: Collection[UUID]) -> list[Memory]:
    """What comes back when these memories, summaries included, are erased: locked until the transaction ends."""
    gone = set(memory_ids)
    rows = Memory.objects.in_vault(access.vault_id)
    reasons: set[tuple[UUID, str]] = set()
    for summary in rows.filter(pk__in=gone, is_summarized=True, archived_at=None):
        if gone.intersection(summary.summarized_from):
            reasons |= {(one, archived_for(summary.pk)) for one in summary.summarized_from if one not in gone}
    archived = rows.filter(pk__in={one for one, _ in reasons}, archived_at__isnull=False)
    locked = archived.select_for_update(of=("self",), no_key=True).order_by("id")
    return [row for row in locked if (row.pk, row.archived_reason) in reasons]


def archived_for(summary_id: UUID) -> str:
    """The reason that a summary's sources were archived for."""
    return f"summarized into {summary_id}"

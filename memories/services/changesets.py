"""Changesets: everything one action changed, recorded so that people can see it and take it back."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from banks.access import Access, KeyScope
from memories.models import Changeset, ChangesetItem, Memory
from memories.models.effective import opened_settings
from memories.rules.vocabulary import ChangesetState
from memoryhub.lib.bulk import insert_rows, new_row
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import new_id, parse_id
from memoryhub.lib.pagination import decode_cursor, encode_cursor, query_text


class Moved(NamedTuple):
    """One memory and its versions around a change; 0 before: the changeset created it."""

    memory_id: UUID
    version_before: int
    version_after: int


def open_changeset(access: Access, action: str, reason: str = "") -> Changeset:
    """An empty changeset of the caller, in the running transaction; ``action`` is the verb that changes."""
    return Changeset.objects.create(
        vault_id=access.vault_id,
        action=action,
        actor_kind=access.actor.kind,
        actor_id=access.actor.id,
        reason=reason or None,
    )


def record_items(changeset: Changeset, moved: Iterable[Moved]) -> None:
    """Note what was changed, in the transaction that changed it; memories whose version stayed are left out.

    A memory stands once in a changeset: a second move of it is an IntegrityError. What is added to a changeset that was
    undone meanwhile can be undone as well.
    """
    items = [
        new_row(
            ChangesetItem,
            id=new_id(),
            vault_id=changeset.vault_id,
            changeset_id=changeset.pk,
            memory_id=one.memory_id,
            version_before=one.version_before,
            version_after=one.version_after,
            undone_at=None,
            refused="",
        )
        for one in moved
        if one.version_before != one.version_after
    ]
    insert_rows(items)
    if items:
        found = Changeset.objects.filter(pk=changeset.pk)
        found.update(count=F("count") + len(items))
        found.filter(state=ChangesetState.UNDONE).update(state=ChangesetState.PARTIAL.value, undone_at=None)


@dataclass(frozen=True, slots=True)
class ChangesetPage:
    """Changesets, newest first."""

    items: list[Changeset]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Memories of a changeset in the order they were changed, each loaded with its bank."""

    items: list[ChangesetItem]
    next_cursor: str | None


def list_changesets(access: Access, limit: int = 100, cursor: str | None = None) -> ChangesetPage:
    """The vault's newest changesets; those that touched memories the caller may see. Needs memories:read.

    An import that brought no memory is not among them: there is nothing to undo. Raises CursorInvalid, CursorMismatch.
    """
    access.require(KeyScope.MEMORIES_READ)
    rows = _visible(access).exclude(action="import_vault", count=0)
    query = query_text(access.vault_id, access.actor.id, "changesets")
    if cursor:
        rows = rows.filter(id__lt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.order_by("-id")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].pk)], query) if len(found) > limit else None
    return ChangesetPage(found[:limit], following)


def get_changeset(access: Access, changeset_id: str | UUID) -> Changeset:
    """One changeset. Needs memories:read. Raises NotFound, also when the caller may see none of its memories."""
    access.require(KeyScope.MEMORIES_READ)
    return find_changeset(access, changeset_id)


def find_changeset(access: Access, changeset_id: str | UUID) -> Changeset:
    """The same for a verb that has checked what the caller may do with it. Raises NotFound."""
    found = _visible(access).filter(pk=parse_id(changeset_id)).first()
    if found is None:
        raise NotFound("There is no such changeset in this vault.")
    return found


def list_items(
    access: Access,
    changeset_id: str | UUID | Changeset,
    refused: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> ItemPage:
    """The memories of a changeset, by its id or as it was read, that the caller may see.

    Those an undo refused with one code, if given. Needs memories:read. Raises NotFound, CursorInvalid, CursorMismatch.
    """
    access.require(KeyScope.MEMORIES_READ)
    changeset = changeset_id if isinstance(changeset_id, Changeset) else find_changeset(access, changeset_id)
    rows = items_of(access, changeset)
    if refused is not None:
        rows = rows.filter(refused=refused)
    query = query_text(access.vault_id, access.actor.id, "changeset", changeset.pk, refused)
    if cursor:
        rows = rows.filter(id__gt=UUID(str(decode_cursor(cursor, query).position[0])))
    found = list(rows.select_related("memory__bank").order_by("id")[: limit + 1])
    following = encode_cursor([str(found[limit - 1].pk)], query) if len(found) > limit else None
    return ItemPage(found[:limit], following)


def count_items(access: Access, changeset: Changeset) -> dict[str, int]:
    """How many of its memories stand as changed, were undone, or were refused by the last undo, by code."""
    rows = items_of(access, changeset).order_by()
    grouped = rows.annotate(stands=Q(undone_at=None)).values_list("refused", "stands").annotate(n=Count("pk"))
    counted: Counter[str] = Counter()
    for refused, stands, count in grouped:
        counted[(refused or "applied") if stands else "undone"] += count
    return dict(counted)


def items_of(access: Access, changeset: Changeset) -> QuerySet[ChangesetItem]:
    """Its items whose memories the caller may see."""
    rows = ChangesetItem.objects.filter(vault_id=access.vault_id, changeset_id=changeset.pk)
    return rows.filter(memory__in=Memory.objects.visible_to(access).values("pk")) if _is_narrow(access) else rows


def undoable_until(access: Access, changesets: Collection[Changeset]) -> dict[UUID, dt.datetime]:
    """Changeset → the end of the time in which it can be undone (setting ``undo_days``)."""
    days = dt.timedelta(days=opened_settings(access)["undo_days"])
    return {changeset.pk: changeset.created_at + days for changeset in changesets}


def _visible(access: Access) -> QuerySet[Changeset]:
    rows = Changeset.objects.filter(vault_id=access.vault_id)
    if not _is_narrow(access):
        return rows
    seen = Memory.objects.visible_to(access).filter(pk=OuterRef("memory_id"))
    return rows.filter(Exists(ChangesetItem.objects.filter(Exists(seen), changeset_id=OuterRef("pk"))))


def _is_narrow(access: Access) -> bool:
    return access.agent is not None or access.bank_ids is not None

"""The traces of memories outside their own rows: each function removes one kind, in the transaction of the erasure.

What belongs to a memory alone (its links, pairs, lines of changesets) goes; what others share (a chain, a job, a call
of a model) only loses the name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import connection
from django.db.models import Q

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.index.compaction import forget_documents
from memories.models import (
    Changeset,
    ChangesetItem,
    DuplicatePair,
    Embedding,
    Event,
    IdempotencyRecord,
    Link,
    Memory,
    Revision,
    SavedView,
)
from memories.rules.erasure import REASONED_AS_A_WHOLE, heir
from memories.rules.savedviews import names_subject
from memories.rules.vocabulary import ErasureKind, Relation
from memoryhub.lib.crypto import DecryptionError, UnknownKey
from memoryhub.lib.sealing import opened

NOBODY = UUID(int=0)
_CLOSED = "What replaced it was erased."


def forget_vectors(access: Access, memory_ids: Collection[UUID]) -> int:
    """Delete their vectors, in every space."""
    return Embedding.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids).delete()[0]


def forget_words(access: Access, memory_ids: Collection[UUID]) -> int:
    """Take them out of the keyword index, packed or not."""
    return forget_documents(list(memory_ids))


def forget_links(access: Access, memory_ids: Collection[UUID]) -> int:
    """Delete links from and to them."""
    ends = Q(source_id__in=memory_ids) | Q(target_id__in=memory_ids)
    return Link.objects.filter(ends, vault_id=access.vault_id).delete()[0]


def forget_pairs(access: Access, memory_ids: Collection[UUID]) -> int:
    """Delete the pairs they are in, with why somebody decided so."""
    ends = Q(older_id__in=memory_ids) | Q(newer_id__in=memory_ids)
    return DuplicatePair.objects.filter(ends, vault_id=access.vault_id).delete()[0]


def forget_answers(access: Access, memory_ids: Collection[UUID]) -> int:
    """Delete kept answers that show one of them."""
    rows = IdempotencyRecord.objects.filter(vault_id=access.vault_id, memory_ids__overlap=list(memory_ids))
    return rows.delete()[0]


def forget_events(access: Access, ids: Collection[UUID]) -> int:
    """Take conversations out of the stream of events; how many events named one. Memories are named by the audit."""
    told = Event.objects.filter(vault_id=access.vault_id, target_kind="session", target_id__in=ids)
    return told.update(target_id=None)


def forget_views(access: Access, kind: ErasureKind, subject: str) -> int:
    """Delete saved lists, whoever's, that name a user, an agent or a conversation; how many."""
    views = SavedView.objects.filter(vault_id=access.vault_id).defer("is_shared", "is_pinned", "created_at")
    naming = [
        view.pk
        for view in views
        if names_subject(kind, subject, opened(view, "name") or "", opened(view, "address") or "")
    ]
    return SavedView.objects.filter(vault_id=access.vault_id, pk__in=naming).delete()[0] if naming else 0


def forget_revisions(access: Access, memory_ids: Collection[UUID]) -> int:
    """Delete what they were before each change."""
    return Revision.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids).delete()[0]


def forget_reasons(access: Access, memory_ids: Collection[UUID]) -> int:
    """Forget why changes were made that they took part in, wherever it is kept; how many changesets lost their reason.

    A reason may quote a memory: a model's says what it compared. One given for many as a whole stays while any is left.
    """
    mine = ChangesetItem.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids)
    others = ChangesetItem.objects.filter(vault_id=access.vault_id).exclude(memory_id__in=memory_ids)
    touched = Changeset.objects.filter(vault_id=access.vault_id, pk__in=mine.values("changeset_id"))
    shared = touched.filter(action__in=REASONED_AS_A_WHOLE, pk__in=others.values("changeset_id"))
    quoting = list(touched.exclude(pk__in=shared.values("pk")).values_list("pk", flat=True))
    Revision.objects.filter(changeset_id__in=quoting).update(reason=None)
    beside = others.filter(changeset_id__in=quoting).values("memory_id")
    Memory.objects.in_vault(access.vault_id).filter(pk__in=beside).update(archived_reason=None)
    DuplicatePair.objects.filter(changeset_id__in=quoting).update(reason=None)
    return Changeset.objects.filter(pk__in=quoting, reason__isnull=False).update(reason=None)


def forget_items(access: Access, memory_ids: Collection[UUID]) -> int:
    """Take them out of the changesets they are in."""
    return ChangesetItem.objects.filter(vault_id=access.vault_id, memory_id__in=memory_ids).delete()[0]


def forget_calls(access: Access, ids: Collection[UUID]) -> int:
    """Take memories, messages and conversations out of the ledger of model calls; how many calls were about them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_modelcall SET subjects = ARRAY(SELECT one FROM unnest(subjects) WITH ORDINALITY AS"
            " each(one, place) WHERE one <> ALL(%s) ORDER BY place) WHERE vault_id = %s AND subjects && %s::uuid[]",
            [list(ids), access.vault_id, list(ids)],
        )
        return int(cursor.rowcount)


def forget_jobs(access: Access, ids: Collection[UUID]) -> int:
    """Take ids out of what jobs refer to; how many jobs named one.

    The place stays, with the id of nobody: a job under way counts the places it is done with.
    """
    named = "|".join(str(one) for one in ids)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_job SET ref = regexp_replace(ref::text, %s, %s, 'g')::jsonb,"
            " dedupe_key = CASE WHEN dedupe_key ~ %s THEN NULL ELSE dedupe_key END"
            " WHERE vault_id = %s AND (ref::text ~ %s OR dedupe_key ~ %s)",
            [named, str(NOBODY), named, access.vault_id, named, named],
        )
        return int(cursor.rowcount)


def close_chains(access: Access, memory_ids: Collection[UUID]) -> int:
    """Let what they replaced be replaced by what replaced them; how many memories have another successor now.

    Where the head of a chain goes, what it replaced stays archived, names no successor and can be brought back.
    """
    rows = Memory.objects.in_vault(access.vault_id)
    gone = dict(rows.filter(pk__in=memory_ids).values_list("pk", "superseded_by_id"))
    left = list(rows.filter(superseded_by_id__in=memory_ids).exclude(pk__in=memory_ids).order_by("pk"))
    for memory in left:
        memory.superseded_by_id = heir(gone, memory.superseded_by_id)
        # Why it was replaced may say by what.
        memory.archived_reason = _CLOSED
        memory.save(update_fields=["superseded_by", "archived_reason"])
        if memory.superseded_by_id is not None:
            Link.objects.get_or_create(
                vault_id=access.vault_id,
                source_id=memory.superseded_by_id,
                target=memory,
                relation=Relation.SUPERSEDES.value,
            )
    Revision.objects.filter(memory__in=left, action="supersede_memory").update(reason=None)
    _rename_successors(access, gone)
    record_audit(access, *(Audited("close_chain", "memory", memory.pk) for memory in left))
    return len(left)


def _rename_successors(access: Access, gone: Mapping[UUID, UUID | None]) -> None:
    """Earlier versions of memories that an erased one ever replaced name its successor instead."""
    turned = Revision.objects.filter(vault_id=access.vault_id, changed__contains="superseded_by")
    kept = Revision.objects.filter(vault_id=access.vault_id, memory_id__in=turned.values("memory_id"))
    for revision in kept.exclude(memory_id__in=gone).only("vault_id", "before").iterator(1_000):
        try:
            before = revision.before
        except (DecryptionError, UnknownKey):
            continue
        named = before.get("superseded_by_id")
        if named is not None and UUID(named) in gone:
            successor = heir(gone, UUID(named))
            revision.before = {**before, "superseded_by_id": None if successor is None else str(successor)}
            revision.save(update_fields=["before"])

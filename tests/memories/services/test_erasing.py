"""Erasing a memory: nothing is left of it but ids in the audit and a receipt that can be checked."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection, models

from banks.access import Access
from banks.models import AuditEntry
from memories.calls.ledger import record_skip
from memories.jobs import JobKind
from memories.models import (
    Changeset,
    ChangesetItem,
    DuplicatePair,
    ErasureReceipt,
    IdempotencyRecord,
    Job,
    Link,
    Memory,
    ModelCall,
    Revision,
)
from memories.rules.drafts import MemoryChanges
from memories.rules.vocabulary import Purpose, Relation, SkipReason
from memories.search.reading import read_chain
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.forgetting import NOBODY
from memories.services.idempotency import StoredAnswer, with_idempotency
from memories.services.jobs import enqueue_job
from memories.services.lifecycle import archive_memory, supersede_memory
from memories.services.linking import create_link
from memories.services.receipts import get_receipt, list_receipts, verify_receipt
from memoryhub.lib.errors import NotFound
from tests.factories import make_pair, remember, write

pytestmark = pytest.mark.django_db


def rows_naming(memory_id: UUID) -> dict[str, int]:
    """How many rows of every table of the hub mention an id, in any column of any type."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            table = model._meta.db_table
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE t::text LIKE %s", [f"%{memory_id}%"])
            (count,) = cursor.fetchone()
            if count:
                found[model.__name__] = count
    return found


def answer_of(memory: Memory) -> StoredAnswer:
    return StoredAnswer(201, {"memory": {"id": str(memory.pk), "content": memory.content}}, {})


def test_erasing_leaves_nothing_but_the_audit(access):
    """S12, DESIGN §1: content, vector, tokens, revisions, links, kept answers: no row anywhere names it any more."""
    other = remember(access, "stays")
    memory = remember(access, "goes", external_write_id="e1", user_id="bob")
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "goes soon"}))
    newer = write(access, "newer", supersedes=str(memory.pk)).memory
    create_link(access, other.pk, memory.pk, Relation.REFINES)
    changeset = Changeset.objects.create(vault=access.vault, action="cleanup", actor_kind="system")
    ChangesetItem.objects.create(
        vault=access.vault, changeset=changeset, memory=memory, version_before=1, version_after=2
    )
    with_idempotency(access, "one", b"x", lambda: answer_of(memory))
    with_idempotency(access, "batch", b"x", lambda: StoredAnswer(200, {"results": [{"id": str(memory.pk)}]}))
    with_idempotency(access, "unrelated", b"x", lambda: answer_of(other))
    receipt = erase_memory(access, memory.pk)
    assert rows_naming(memory.pk) == {
        "AuditEntry": AuditEntry.objects.filter(target_id=memory.pk).count(),
        "ErasureReceipt": 1,
    }
    assert AuditEntry.objects.filter(target_id=memory.pk, action="erase_memory").count() == 1
    assert IdempotencyRecord.objects.count() == 1
    assert receipt.target_id == memory.pk
    assert receipt.removed["revisions"] == 2
    assert receipt.removed["kept_answers"] == 2
    assert (receipt.removed["embeddings"], receipt.removed["keyword_index"]) == (1, 1)
    assert len(receipt.signature or b"") == 32
    assert set(Memory.objects.values_list("pk", flat=True)) == {other.pk, newer.pk}


def test_the_counting_of_rows_sees_a_row(access):
    """S12: the look-up above would find a leftover."""
    memory = remember(access)
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "x"}))
    assert rows_naming(memory.pk).keys() >= {"Memory", "Embedding", "MemoryIndex", "Revision", "AuditEntry"}


def test_what_was_erased_can_be_said_again(access):
    """IDM-02: neither the text nor the external id is blocked."""
    memory = remember(access, "goes", external_write_id="e1")
    erase_memory(access, memory.pk)
    again = write(access, "goes", external_write_id="e1")
    assert (again.outcome, again.memory.pk != memory.pk) == ("created", True)
    with pytest.raises(NotFound):
        erase_memory(access, memory.pk)


def test_the_audit_holds_no_content():
    """MIG-13: ids, names and numbers only; no free text and no JSON in any column."""
    allowed = (models.CharField, models.UUIDField, models.IntegerField, models.DateTimeField, models.ForeignKey)
    for field in AuditEntry._meta.concrete_fields:
        assert isinstance(field, (*allowed, models.BigAutoField)) or field.name == "chain_hash", field
        assert (field.max_length or 0) <= 64


def changed_together(access: Access, action: str, reason: str, *memories: Memory) -> Changeset:
    changeset = Changeset.objects.create(vault=access.vault, action=action, actor_kind="system", reason=reason)
    for memory in memories:
        Revision.objects.filter(memory=memory).update(changeset=changeset)
        ChangesetItem.objects.create(
            vault=access.vault, changeset=changeset, memory=memory, version_before=1, version_after=2
        )
    return changeset


def test_a_reason_that_may_quote_it_goes_too(access):
    """S12: what a model said about a pair stays neither in the changeset nor beside the memory that is left."""
    kept, goes = remember(access, "Bob lives in Oslo."), remember(access, "Bob lives in Bergen.")
    for memory in (kept, goes):
        archive_memory(access, memory.pk, reason="Bergen replaces Oslo")
    changeset = changed_together(access, "check_update", "Bergen replaces Oslo", kept, goes)
    assert erase_memory(access, goes.pk).removed["reasons"] == 1
    changeset.refresh_from_db()
    kept.refresh_from_db()
    assert (changeset.reason, kept.archived_reason, Revision.objects.get().reason) == (None, None, None)


def test_a_reason_given_for_many_stays_with_the_rest_of_them(access):
    """PRN-14: what was pruned still says why, until the last of it is erased."""
    kept, goes = remember(access, "one"), remember(access, "two")
    for memory in (kept, goes):
        archive_memory(access, memory.pk, reason="pruned: fifo")
    changeset = changed_together(access, "prune_memories", "pruned: fifo", kept, goes)
    erase_memory(access, goes.pk)
    changeset.refresh_from_db()
    kept.refresh_from_db()
    assert (changeset.reason, kept.archived_reason) == ("pruned: fifo", "pruned: fifo")
    erase_memory(access, kept.pk)
    changeset.refresh_from_db()
    assert changeset.reason is None


def chain_of(access: Access, *texts: str) -> list[Memory]:
    chain = [remember(access, texts[0])]
    for text in texts[1:]:
        chain.append(write(access, text, supersedes=str(chain[-1].pk)).memory)
    return chain


def test_a_chain_closes_up_where_its_middle_is_erased(access):
    """SUP-07: the older one keeps a successor and stays archived; the newest is still the head."""
    first, *middle, last = chain_of(access, "v1", "v2", "v3", "v4")
    erase_memory(access, middle[1].pk)
    erase_memory(access, middle[0].pk)
    first.refresh_from_db()
    assert (first.superseded_by_id, first.archived) == (last.pk, True)
    assert [row.pk for row in read_chain(access, first.pk)] == [first.pk, last.pk]
    link = Link.objects.get()
    assert (link.source_id, link.target_id, link.relation) == (last.pk, first.pk, "supersedes")
    assert AuditEntry.objects.filter(action="close_chain").count() == 2
    assert not archive_memory(access, first.pk, archived=False).superseded_by_id


def test_an_earlier_version_names_no_erased_successor(access):
    """S12: a memory that was replaced and came back remembers by what, sealed in its history."""
    old, new = chain_of(access, "v1", "v2")
    archive_memory(access, old.pk, archived=False)
    supersede_memory(access, old.pk, remember(access, "v3").pk, "v3 says it better")
    named = [revision.before["superseded_by_id"] for revision in Revision.objects.filter(memory=old)]
    assert str(new.pk) in named
    erase_memory(access, new.pk)
    named = [revision.before["superseded_by_id"] for revision in Revision.objects.filter(memory=old)]
    assert set(named) == {None}


def test_jobs_and_calls_of_models_forget_its_name(access):
    """S12: a job under way keeps its places, so that none of the others is left out."""
    goes, stays = remember(access, "goes"), remember(access, "stays")
    enqueue_job(access.vault_id, JobKind.CHECK_UPDATES, {"memory_ids": [str(goes.pk), str(stays.pk)]})
    record_skip(access, Purpose.CHECK_UPDATE, SkipReason.NO_MODEL, [goes.pk, stays.pk])
    removed = erase_memory(access, goes.pk).removed
    assert (removed["jobs"], removed["model_calls"]) == (1, 1)
    assert Job.objects.get(kind=JobKind.CHECK_UPDATES).ref == {"memory_ids": [str(NOBODY), str(stays.pk)]}
    assert ModelCall.objects.get().subjects == [stays.pk]


def test_pairs_go_with_their_reasons(access):
    """S12: why somebody decided about it is about it."""
    older, newer = remember(access, "one"), remember(access, "two")
    make_pair(older, newer, reason="one is two")
    assert erase_memory(access, newer.pk).removed["duplicate_pairs"] == 1
    assert not DuplicatePair.objects.exists()


def test_a_receipt_is_kept_and_can_be_checked(access):
    """DESIGN §1: signed; true as long as nobody touches it and the memory stays away."""
    memory = remember(access, "goes")
    receipt = erase_memory(access, memory.pk)
    assert [one.pk for one in list_receipts(access)] == [receipt.pk]
    found = verify_receipt(access, receipt.pk, bytes(receipt.signature or b"").hex())
    assert (found.holds, found.genuine, found.still_there) == (True, True, 0)
    assert not verify_receipt(access, receipt.pk, "00" * 32).genuine
    ErasureReceipt.objects.update(removed={"memories": 2})
    assert not verify_receipt(access, receipt.pk).holds


def test_a_receipt_does_not_hold_when_the_memory_is_back(access):
    """DESIGN §1: a restored backup brings rows back; the receipt tells."""
    memory = remember(access, "goes")
    receipt = erase_memory(access, memory.pk)
    memory.save(force_insert=True)
    found = verify_receipt(access, receipt.pk)
    assert (found.genuine, found.still_there, found.holds) == (True, 1, False)


def test_a_receipt_of_another_vault_is_unknown(access, other_access):
    receipt = erase_memory(access, remember(access, "goes").pk)
    with pytest.raises(NotFound):
        get_receipt(other_access, receipt.pk)

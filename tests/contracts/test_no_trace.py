"""After an erasure nothing of it is left: every table there is, opened where it is sealed, and what lies beside tables.

Driven by the schema: a new table or column is looked at without anybody thinking of it, and bytes that are neither
sealed nor explained below fail the test, for nobody could look into them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection, models
from prometheus_client import REGISTRY, generate_latest

from banks.access import Access
from memories.calls.ledger import record_skip
from memories.jobs import JobKind
from memories.models import Embedding, Job, Memory, Revision
from memories.rules.drafts import MemoryChanges
from memories.rules.vocabulary import AccessPurpose, ErasureKind, Purpose, Relation, SkipReason
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.changesets import Moved, open_changeset, record_items
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.erasingsubjects import count_subject, erase_everything
from memories.services.idempotency import StoredAnswer, with_idempotency
from memories.services.jobs import enqueue_job
from memories.services.lifecycle import archive_memory
from memories.services.linking import create_link
from memories.services.running import run_job
from memoryhub.lib.blindindex import hash_query
from memoryhub.lib.sealing import SealedField
from tests.factories import converse, make_pair, remember, write

pytestmark = pytest.mark.django_db

CANARY = "zyxcanary"
#: Columns of bytes that hold no text: keyed hashes, wrapped keys, signatures. Packed postings are looked into below.
EXPLAINED = {
    ("Memory", "content_hash"),
    ("IdempotencyRecord", "key_hash"),
    ("IdempotencyRecord", "fingerprint"),
    ("ClusterSummary", "fingerprint"),
    ("Dream", "input_hash"),
    ("Posting", "body"),
    ("ErasureReceipt", "subject_hash"),
    ("ErasureReceipt", "ids_digest"),
    ("ErasureReceipt", "signature"),
    ("ApiKey", "digest"),
    ("AuditEntry", "chain_hash"),
    ("VaultKey", "wrapped"),
    ("KeyCheck", "value"),
}
#: Where ids of what was erased stay on purpose: the audit says that it happened, the receipt of one memory which.
KEPT_IDS = {"banks_auditentry", "memories_erasurereceipt"}


def bytes_nobody_can_read() -> set[tuple[str, str]]:
    """Columns of bytes that are neither sealed by the hub nor explained."""
    ours = [model for model in apps.get_models() if model._meta.app_label in {"memories", "banks"}]
    columns = {(model.__name__, field.name): field for model in ours for field in model._meta.concrete_fields}
    raw = {name for name, field in columns.items() if isinstance(field, models.BinaryField)}
    return raw - EXPLAINED - {name for name, field in columns.items() if isinstance(field, SealedField)}


def rows_as_text(table: str) -> Iterator[str]:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT t::text FROM "{table}" t')
        for (text,) in cursor.fetchall():
            yield text


def opened(model: type[models.Model]) -> Iterator[str]:
    """Everything sealed in a table, opened. A value that does not open fails the test."""
    sealed = [field.attname for field in model._meta.concrete_fields if isinstance(field, SealedField)]
    for row in model._base_manager.all() if sealed else ():
        for name in sealed:
            yield json.dumps(getattr(row, name), default=str, ensure_ascii=False)


def traces(needles: dict[str, str]) -> set[tuple[str, str]]:
    """(where, what) for every needle that is found anywhere in the database, sealed columns opened."""
    assert bytes_nobody_can_read() == set()
    found = set()
    for table in connection.introspection.table_names():
        text = "\n".join(rows_as_text(table)).casefold()
        found |= {(table, name) for name, needle in needles.items() if needle in text}
    for model in apps.get_models():
        text = "\n".join(opened(model)).casefold()
        found |= {(f"{model._meta.db_table} opened", name) for name, needle in needles.items() if needle in text}
    return found


def needles_of(access: Access, memory: Memory) -> dict[str, str]:
    """What a trace of a memory could be: its words, their hashes, its vector, the hash of its text, its id."""
    row = Memory.objects.get(pk=memory.pk)
    vector = Embedding.objects.filter(memory=memory).first()
    numbers = "" if vector is None else ",".join(rows_as_text("memories_embedding"))
    assert numbers
    with connection.cursor() as cursor:
        cursor.execute("SELECT vector::text FROM memories_embedding WHERE memory_id = %s", [memory.pk])
        numbers = cursor.fetchone()[0]
    return {
        "words": CANARY,
        "words in hex": CANARY.encode().hex(),
        "token hash": str(hash_query(access.keys.index, CANARY)[0]),
        "vector": numbers,
        "text hash": bytes(row.content_hash or b"").hex(),
        "id": str(memory.pk),
    }


def use_everywhere(access: Access) -> Memory:
    """A memory that leaves something in every place that can hold something of it."""
    memory = remember(access, f"The {CANARY} sings.", user_id="bob", session_id="tuesday", importance=1)
    other = remember(access, "Something quite different about trains.")
    update_memory(access, memory.pk, MemoryChanges.parse({"content": f"The {CANARY} sang.", "reason": CANARY}))
    write(access, "The bird sang.", supersedes=str(remember(access, "An old bird.").pk))
    create_link(access, other.pk, memory.pk, Relation.RELATED)
    make_pair(other, memory, reason=f"the {CANARY} again")
    changeset = open_changeset(access, "check_update", f"because {CANARY}")
    record_items(changeset, [Moved(memory.pk, 1, 2), Moved(other.pk, 1, 2)])
    Revision.objects.filter(memory=memory).update(changeset=changeset)
    archive_memory(access, memory.pk, reason=f"no {CANARY}")
    archive_memory(access, memory.pk, archived=False)
    with_idempotency(access, "k", b"x", lambda: StoredAnswer(200, {"id": str(memory.pk), "content": CANARY}))
    record_accesses(access, [memory.pk, other.pk], AccessPurpose.SEARCH, f"where is the {CANARY}?")
    flush_accesses()
    record_skip(access, Purpose.CHECK_UPDATE, SkipReason.NO_MODEL, [memory.pk, other.pk])
    enqueue_job(access.vault_id, JobKind.CHECK_UPDATES, {"memory_ids": [str(memory.pk)]})
    return Memory.objects.get(pk=memory.pk)


def test_the_search_for_traces_finds_them(access):
    """S12: before the erasure each needle is found, in clear and in sealed columns."""
    memory = use_everywhere(access)
    found = traces(needles_of(access, memory))
    assert {name for _, name in found} == {"words", "token hash", "vector", "text hash", "id"}
    places = {place for place, name in found if name == "words"}
    assert places >= {
        "memories_memory opened",
        "memories_revision opened",
        "memories_changeset opened",
        "memories_duplicatepair opened",
        "memories_idempotencyrecord opened",
        "memories_lookup opened",
    }


def test_an_erased_memory_leaves_no_trace(access, caplog):
    """S12, DESIGN §1: in no table, sealed or clear, no cache, no metric and no line of the log."""
    memory = use_everywhere(access)
    needles = needles_of(access, memory)
    with caplog.at_level(logging.DEBUG):
        erase_memory(access, memory.pk)
    assert traces(needles) - {(table, "id") for table in KEPT_IDS} == set()
    beside = [generate_latest(REGISTRY).decode(), caplog.text, str(getattr(cache, "_cache", {}))]
    assert [text for text in beside if CANARY in text] == []
    assert str(memory.pk) not in beside[0]


def test_an_erased_person_leaves_no_trace(access):
    """S12: the conversation, its summary and the name, too."""
    memory = use_everywhere(access)
    Memory.objects.filter(user_id="bob").update(user_id=f"user-{CANARY}")
    session = converse(access, "tuesday", f"I am the {CANARY}.", user_id=f"user-{CANARY}")
    session.summary = f"They are the {CANARY}."
    session.save()
    needles = needles_of(access, memory) | {"conversation": str(session.pk)}
    name = f"user-{CANARY}"
    erase_everything(access, ErasureKind.USER, name, count_subject(access, ErasureKind.USER, name).count)
    assert run_job(Job.objects.get(kind=JobKind.ERASE_SUBJECT).pk)
    kept = {(table, name) for table in KEPT_IDS for name in ("id", "conversation")}
    assert traces(needles) - kept == set()


def test_a_summary_goes_with_its_source(access):
    """DESIGN §1: what was derived from it, and the other source comes back."""
    one, two = remember(access, f"The {CANARY} sings."), remember(access, "Trains are late.")
    summary = remember(access, f"A {CANARY} and late trains.")
    Memory.objects.filter(pk=summary.pk).update(is_summarized=True, summarized_from=[one.pk, two.pk])
    for source in (one, two):
        create_link(access, summary.pk, source.pk, Relation.DERIVED_FROM)
        archive_memory(access, source.pk, reason=f"summarized into {summary.pk}")
    needles = needles_of(access, one)
    assert erase_memory(access, one.pk).removed["memories"] == 2
    assert traces(needles) - {(table, "id") for table in KEPT_IDS} == set()
    [left] = Memory.objects.all()
    assert (left.pk, left.archived) == (two.pk, False)

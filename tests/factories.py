"""Things tests need, made by the services a user would call."""

from __future__ import annotations

import datetime as dt
from typing import Any
from uuid import UUID

from django.db import transaction

from banks.access import ALL_SCOPES, Access, KeyScope, access_from_secret, system_access
from banks.models import ApiKey, Vault
from banks.services.drafts import KeyDraft
from banks.services.keys import create_key
from banks.services.vaults import create_vault
from memories.models import Changeset, Delivery, Dream, DuplicatePair, Job, Memory, Session, VaultImport, Webhook
from memories.rules.drafts import MemoryDraft
from memories.rules.exchange import FORMAT, VERSION, written
from memories.rules.imports import ImportOptions
from memories.rules.messages import ConversationPart
from memories.rules.vocabulary import Outcome
from memories.rules.webhookwishes import WebhookDraft
from memories.services.archiving import archive_many
from memories.services.changesets import open_changeset
from memories.services.context import WriteContext
from memories.services.dreams import deep_dream
from memories.services.imports import begin_import, stage_lines
from memories.services.jobs import claim_job
from memories.services.notes import note_memories
from memories.services.running import run_job
from memories.services.sessions import add_messages
from memories.services.webhooks import create_webhook
from memories.services.writing import WriteResult, write_memory


def make_vault(name: str = "Home") -> Vault:
    """A vault with its seven banks."""
    return create_vault(name)


def make_key(access: Access, scopes: frozenset[KeyScope] = ALL_SCOPES, **more: Any) -> tuple[ApiKey, str]:
    """A key and its secret."""
    return create_key(access, KeyDraft(name=more.pop("name", "test"), scopes=sorted(scopes), **more))


def access_of(secret: str) -> Access:
    """The access of a key, as a request would get it."""
    return access_from_secret(secret, "test-request")


def draft(content: str = "The hub listens on port 8000.", **more: Any) -> MemoryDraft:
    """A valid draft; ``more`` as a caller would send it."""
    return MemoryDraft.parse({"content": content, **more})


def remember(access: Access, content: str = "The hub listens on port 8000.", **more: Any) -> Memory:
    """A written memory."""
    return write(access, content, **more).memory


def write(access: Access, content: str = "The hub listens on port 8000.", **more: Any) -> WriteResult:
    """The result of a write."""
    return write_memory(access, draft(content, **more))


def make_pair(older: Memory, newer: Memory, **more: Any) -> DuplicatePair:
    """Two memories that wait for a decision."""
    values = {"similarity": 0.87, "kind": "near", "differences": ["name"], **more}
    return DuplicatePair.objects.create(vault_id=older.vault_id, older=older, newer=newer, **values)


def archive_together(access: Access, *texts: str) -> Changeset:
    """New memories archived in one changeset, which can be undone."""
    written = [remember(access, text).pk for text in texts]
    with transaction.atomic():
        changeset = open_changeset(access, "archive_memories", "tidying up")
        rows = list(Memory.objects.select_for_update().filter(pk__in=written))
        archive_many(WriteContext.of(access), rows, changeset, "tidying up")
    return changeset


def operator(vault: Vault) -> Access:
    """The hub itself, acting in a vault."""
    return system_access(vault.pk, "test-request")


def part(*said: str | dict[str, Any], **more: Any) -> ConversationPart:
    """Turns as a caller would send them: a text is a human message."""
    messages = [{"role": "human", "content": one} if isinstance(one, str) else one for one in said]
    return ConversationPart.parse({"messages": messages, **more})


def converse(access: Access, sid: str, *said: str | dict[str, Any], **more: Any) -> Session:
    """A conversation after these turns."""
    return add_messages(access, sid, part(*said, **more)).session


def day_of(session: Session) -> dt.date:
    """The day of a conversation's last turn, under which its note is kept."""
    assert session.last_message_at is not None
    return session.last_message_at.date()


def claimed(job_id: UUID) -> Job:
    """A due job, taken by this process."""
    job = claim_job(job_id)
    assert job is not None
    return job


def noted_twice(access: Access, memory: Memory) -> Memory:
    """A memory that a day's note speaks of twice."""
    session = converse(access, f"talk {memory.doc_no}", "Something to remember.", namespace=memory.namespace)
    told = [(draft(memory.content), WriteResult(memory, Outcome.CREATED, "no_match", ""))] * 2
    with transaction.atomic():
        note_memories(access, session, list(session.messages.all()), told, WriteContext.of(access).settings)
    return memory


def dreamt_of(access: Access, memory: Memory) -> Dream:
    """A dream after the memory was noted twice: it is in a note and the diary, and if it is sure in the document."""
    noted_twice(access, memory)
    dream = deep_dream(access, memory.namespace)
    assert dream.job_id is not None
    run_job(dream.job_id)
    dream.refresh_from_db()
    return dream


def make_webhook(access: Access) -> Webhook:
    """An endpoint at a public address that nobody calls, with a delivery that waits."""
    webhook = create_webhook(access, WebhookDraft.parse({"url": "https://93.184.216.34/hook"})).webhook
    Delivery.objects.create(vault_id=access.vault_id, webhook=webhook, event="webhook.test")
    return webhook


def make_import(access: Access) -> VaultImport:
    """An import that has got its first line."""
    header = {"kind": "header", "format": FORMAT, "version": VERSION, "exported_at": "2026-11-21T10:00:00Z"}
    line = written({**header, "vault": {"id": str(access.vault_id)}, "counts": {}})
    return stage_lines(access, begin_import(access, ImportOptions()).pk, [line])

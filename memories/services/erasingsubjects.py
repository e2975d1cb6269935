"""Erase everything about a user, an agent or a conversation: counted first, then by a job, batch by batch.

Every batch commits by itself and is on the receipt when it does, so a job that was killed goes on where it stopped:
what is left is what the database still holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.jobs import JobKind
from memories.models import ErasureReceipt, Job, Lookup, Memory, Message, Session
from memories.models.memory import MemoryQuerySet
from memories.rules.vocabulary import ErasureKind
from memories.services.contention import despite_deadlocks, lock_chains
from memories.services.erasing import erase_rows
from memories.services.erasingsessions import erase_conversation
from memories.services.forgetting import forget_views
from memories.services.jobs import enqueue_job, finish_job, hold_job, report_progress
from memories.services.receipts import count_removed, open_receipt, sign_receipt
from memoryhub.lib.errors import Conflict, Denied

BATCH = 200


class ErasureChanged(Conflict):
    """There is not as much to erase as was counted; count again and confirm the new number."""

    code = "erasure_changed"


class WholeVaultOnly(Denied):
    """This caller does not see the whole vault, so it cannot promise that everything is erased; use one that does."""

    code = "whole_vault_only"


@dataclass(frozen=True, slots=True)
class Counted:
    """How much there is of a subject. ``count`` is what must be confirmed."""

    memories: int
    sessions: int
    messages: int
    lookups: int

    @property
    def count(self) -> int:
        """Memories and conversations."""
        return self.memories + self.sessions


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whose things are meant: rows of one vault by their labels, archived, discarded and drafts included."""

    vault_id: UUID
    kind: ErasureKind
    name: str

    @property
    def memories(self) -> MemoryQuerySet:
        label = {f"{self.kind.value}_id": self.name}
        return Memory.objects.in_vault(self.vault_id).filter(**label)

    @property
    def sessions(self) -> QuerySet[Session]:
        label = "sid" if self.kind == ErasureKind.SESSION else f"{self.kind.value}_id"
        return Session.objects.filter(vault_id=self.vault_id, **{label: self.name}).order_by("pk")

    def told_in(self, session: Session) -> MemoryQuerySet:
        """Memories of a conversation that say of nobody else that they are theirs."""
        rows = Memory.objects.in_vault(self.vault_id).filter(session_id=session.sid)
        if session.private_to is not None:
            rows = rows.filter(agent_id=session.private_to)
        if self.kind == ErasureKind.SESSION:
            return rows
        label = f"{self.kind.value}_id"
        return rows.filter(Q(**{label: None}) | Q(**{label: self.name}))

    @property
    def all_memories(self) -> MemoryQuerySet:
        told = [self.told_in(session).values("pk") for session in self.sessions]
        ids = Q(pk__in=self.memories.values("pk"))
        for rows in told:
            ids |= Q(pk__in=rows)
        return Memory.objects.in_vault(self.vault_id).filter(ids)

    @property
    def messages(self) -> QuerySet[Message]:
        """Turns, also those an agent said in conversations that are not its own."""
        own = Q(session__in=self.sessions)
        if self.kind == ErasureKind.AGENT:
            own |= Q(agent_id=self.name)
        return Message.objects.filter(own, vault_id=self.vault_id)

    @property
    def lookups(self) -> QuerySet[Lookup]:
        """What an agent asked; for others nothing is kept under their name."""
        rows = Lookup.objects.filter(vault_id=self.vault_id)
        return rows.filter(agent_id=self.name) if self.kind == ErasureKind.AGENT else rows.none()


def count_subject(access: Access, kind: ErasureKind, name: str) -> Counted:
    """What there is of a user, an agent or a conversation, by their label. Needs memories:erase and the whole vault.

    Raises WholeVaultOnly.
    """
    subject = _subject(access, kind, name)
    return Counted(
        memories=subject.all_memories.count(),
        sessions=subject.sessions.count(),
        messages=subject.messages.count(),
        lookups=subject.lookups.count(),
    )


def erase_everything(access: Access, kind: ErasureKind, name: str, expected_count: int) -> ErasureReceipt:
    """Have everything there is now of a subject erased; the receipt, which is signed when the job is done.

    Needs memories:erase and the whole vault. Raises ErasureChanged unless there is as much as ``expected_count``,
    WholeVaultOnly.
    """
    counted = count_subject(access, kind, name)
    if counted.count != expected_count:
        raise ErasureChanged(
            f"There are {counted.count:,} memories and conversations now, not {expected_count:,}; count again.",
            extra={"count": counted.count},
        )
    with transaction.atomic():
        receipt = open_receipt(access, kind, subject=name)
        receipt.save(force_insert=True)
        key = str(receipt.pk)
        enqueue_job(access.vault_id, JobKind.ERASE_SUBJECT, {"erasure": key}, dedupe_key=key)
        record_audit(access, Audited("erase_everything", "erasure", receipt.pk))
    return receipt


def _subject(access: Access, kind: ErasureKind, name: str) -> _Subject:
    access.require(KeyScope.MEMORIES_ERASE)
    if not access.reaches_whole_vault:
        raise WholeVaultOnly
    return _Subject(access.vault_id, kind, name)


def erase_subject(access: Access, job: Job) -> int:
    """The job's body: erase what is left of the subject and sign the receipt; how many memories. Raises JobLost."""
    receipt = ErasureReceipt.objects.get(vault_id=access.vault_id, pk=job.ref["erasure"])
    name = receipt.subject
    if name is None:  # signed, but the worker died before anybody was told
        with transaction.atomic():
            finish_job(job)
        return 0
    subject = _Subject(access.vault_id, ErasureKind(receipt.kind), name)
    before = sum(receipt.removed.get(thing, 0) for thing in ("memories", "sessions"))
    total = before + subject.all_memories.filter(pk__lt=receipt.pk).count() + subject.sessions.count()
    for done in _batches(access, job, subject, receipt):
        report_progress(job, min(before + done, total), total, "erasing")
    _finish(access, job, subject, receipt)
    return int(receipt.removed.get("memories", 0))


def _batches(access: Access, job: Job, subject: _Subject, receipt: ErasureReceipt) -> Iterator[int]:
    """Erase a batch, commit, tell how many things are gone so far; conversations after the memories made of them."""
    done = 0
    for session in list(subject.sessions):
        while erased := _erase_some(access, job, subject.told_in(session), receipt):
            yield (done := done + erased)
        _erase_session(access, job, session, receipt)
        yield (done := done + 1)
    # What is written after the erasure was asked for is a new beginning; ids grow with time.
    while erased := _erase_some(access, job, subject.memories.filter(pk__lt=receipt.pk), receipt):
        yield (done := done + erased)


@despite_deadlocks
def _erase_some(access: Access, job: Job, rows: MemoryQuerySet, receipt: ErasureReceipt) -> int:
    with transaction.atomic():
        hold_job(job)
        lock_chains(access.vault_id)
        receipt.refresh_from_db()
        erased = erase_rows(access, receipt, list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]))
        receipt.save(update_fields=["removed"])
    return erased


@despite_deadlocks
def _erase_session(access: Access, job: Job, session: Session, receipt: ErasureReceipt) -> None:
    with transaction.atomic():
        hold_job(job)
        receipt.refresh_from_db()
        erase_conversation(access, receipt, session)
        receipt.save(update_fields=["removed"])


def _finish(access: Access, job: Job, subject: _Subject, receipt: ErasureReceipt) -> None:
    """What is left elsewhere: turns in others' conversations, whose summaries are made anew, questions, saved views."""
    with transaction.atomic():
        hold_job(job)
        receipt.refresh_from_db()
        messages = subject.messages
        heard = Session.objects.filter(pk__in=messages.values("session_id"))
        heard.filter(summary__isnull=False).update(summary=None, summarized_through=0)
        removed = {"messages": messages.delete()[0], "lookups": subject.lookups.delete()[0]}
        count_removed(receipt, removed | {"saved_views": forget_views(access, subject.kind, subject.name)})
        sign_receipt(access, receipt)
        finish_job(job)

"""One waiting job per conversation, due after a quiet moment (TIE-16, TIE-17, CON-20)."""

from __future__ import annotations

from django.db import transaction

from memories.jobs import JobKind
from memories.models import Job, Session
from memories.rules.debounce import Patience, due_at
from memories.rules.vocabulary import JobState
from memories.services.jobs import enqueue_job
from memoryhub.lib.clock import now
from memoryhub.lib.kick import kick


def debounce_job(session: Session, kind: JobKind, patience: Patience, *, urgent: bool = False) -> None:
    """Write the conversation's job, or move the one that waits; call it with the session's row locked.

    Only this conversation's messages move it. One that waits to be tried again keeps its time, and an urgent one is
    due at once and stays so.
    """
    at, key = now(), str(session.pk)
    waits = Job.objects.select_for_update().filter(
        vault_id=session.vault_id, kind=kind.value, dedupe_key=key, state=JobState.PENDING
    )
    job = waits.first()
    if job is None:
        due = at if urgent else due_at(at, at, session.unread, patience)
        enqueue_job(session.vault_id, kind, {"session": key}, dedupe_key=key, due=due)
    elif urgent and job.due_at > at:
        Job.objects.filter(pk=job.pk).update(due_at=at, ref={**job.ref, "urgent": True})
        transaction.on_commit(lambda: kick(job.pk), robust=True)
    elif not urgent and not job.attempts and "urgent" not in job.ref:
        Job.objects.filter(pk=job.pk).update(due_at=due_at(job.created_at, at, session.unread, patience))

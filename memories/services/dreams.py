"""Ask for dreams: by hand for one namespace, at night for those with something new (TIE-05, TIE-06, GEN-06)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from django.db import connection, transaction

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.jobs import JobKind
from memories.models import CoreDocument, Dream, Job
from memories.rules.limits import DREAM_LOOKBACK_BY_HAND, DREAM_LOOKBACK_MAX
from memories.rules.promotion import scheduled_lookback
from memories.rules.vocabulary import DreamState, JobState
from memories.services.context import WriteContext
from memories.services.jobs import enqueue_job, finish_job
from memoryhub.lib.clock import now

#: How far back somebody looks for notes that no dream has read: as far as a dream can.
_LONGEST = dt.timedelta(days=DREAM_LOOKBACK_MAX)


def deep_dream(access: Access, namespace: Sequence[str], lookback_days: int = DREAM_LOOKBACK_BY_HAND) -> Dream:
    """Consolidate the notes of a namespace, from today back to ``lookback_days`` (1–30) ago; the dream as it waits.

    Needs sessions. One that waits already is answered, and reads as far back as the farther of the two.
    """
    access.require(KeyScope.SESSIONS)
    with transaction.atomic():
        dream = _ask(access, list(namespace), lookback_days, is_scheduled=False)
        record_audit(access, Audited("deep_dream", "dream", dream.pk))
    return dream


def _ask(access: Access, namespace: list[str], lookback_days: int, *, is_scheduled: bool) -> Dream:
    document = locked_document(access, namespace)
    waiting = Job.objects.filter(
        vault_id=access.vault_id, kind=JobKind.DREAM, dedupe_key=str(document.pk), state=JobState.PENDING
    )
    job = waiting.first()
    if job is not None and (dream := Dream.objects.filter(vault_id=access.vault_id, pk=job.ref["dream"]).first()):
        dream.lookback_days = max(dream.lookback_days, lookback_days)
        dream.save(update_fields=["lookback_days"])
        return dream
    dream = Dream(
        vault_id=access.vault_id,
        namespace=namespace,
        lookback_days=lookback_days,
        is_scheduled=is_scheduled,
        actor_kind=access.actor.kind,
        actor_id=access.actor.id,
    )
    enqueue_job(access.vault_id, JobKind.DREAM, {"dream": str(dream.pk)}, dedupe_key=str(document.pk))
    dream.job_id = waiting.values_list("pk", flat=True).get()
    dream.save(force_insert=True)
    return dream


def locked_document(access: Access, namespace: list[str]) -> CoreDocument:
    """The namespace's core document, made if there is none yet, locked for the running transaction."""
    fresh = CoreDocument(vault_id=access.vault_id, namespace=namespace)
    CoreDocument.objects.bulk_create([fresh], ignore_conflicts=True)
    documents = CoreDocument.objects.select_for_update(no_key=True)
    return documents.get(vault_id=access.vault_id, namespace=namespace)


def has_new_notes(access: Access) -> bool:
    """Whether a nightly dream of this vault would find anything that none has read."""
    return bool(_unread(access))


def ask_nightly(access: Access, job: Job) -> int:
    """Ask for a dream of every namespace with something new, and finish the job; how many (GEN-06, GEN-08)."""
    wanted, today = WriteContext.of(access).settings["dream_lookback_days"], now().date()
    with transaction.atomic():
        unread = _unread(access)
        for namespace, oldest in unread:
            days = scheduled_lookback(wanted, oldest, today, DREAM_LOOKBACK_MAX)
            _ask(access, namespace, days, is_scheduled=True)
        finish_job(job)
    return len(unread)


def _unread(access: Access) -> list[tuple[list[str], dt.date]]:
    """Namespaces whose notes grew since their last dream was asked for, and the oldest of those notes."""
    ended = [DreamState.DONE.value, DreamState.UNCHANGED.value, DreamState.SKIPPED.value]
    with connection.cursor() as cursor:
        cursor.execute(_UNREAD, [ended, access.vault_id, (now() - _LONGEST).date()])
        return [(list(namespace), oldest) for namespace, oldest in cursor.fetchall()]


_UNREAD = """
    SELECT note.namespace, min(note.date)
    FROM memories_dailynote note
    LEFT JOIN LATERAL (
        SELECT max(dream.created_at) AS last FROM memories_dream dream
        WHERE dream.vault_id = note.vault_id AND dream.namespace = note.namespace AND dream.state = ANY(%s)
    ) dreamt ON true
    WHERE note.vault_id = %s AND note.date >= %s AND (dreamt.last IS NULL OR note.updated_at > dreamt.last)
    GROUP BY note.namespace ORDER BY note.namespace
"""


def give_up_dream(access: Access, job: Job) -> None:
    """The job died: its dream changed nothing, and says so."""
    waiting = Dream.objects.filter(vault_id=access.vault_id, job_id=job.pk, state=DreamState.WAITING)
    waiting.update(state=DreamState.FAILED, reason="job_died", finished_at=now())

"""Erase a conversation: its turns, its running summary and what waits to be done with it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.models import ErasureReceipt, Job, Session
from memories.rules.vocabulary import ErasureKind, JobState
from memories.search.sessions import find_session
from memories.services.contention import despite_deadlocks
from memories.services.forgetting import forget_answers, forget_calls, forget_events, forget_jobs, forget_views
from memories.services.notes import forget_notes
from memories.services.receipts import count_removed, open_receipt, sign_receipt

#: What may name a conversation or one of its messages, by the name the receipt counts it under.
FORGETTING: dict[str, Callable[[Access, Collection[UUID]], int]] = {
    "kept_answers": forget_answers,
    "model_calls": forget_calls,
}


@despite_deadlocks
def erase_session(access: Access, sid: str | UUID) -> ErasureReceipt:
    """Remove a conversation for good: messages, running summary, waiting jobs, kept answers.

    Needs memories:erase. Memories made from it stay until they are erased themselves. Raises NotFound.
    """
    access.require(KeyScope.MEMORIES_ERASE)
    found = find_session(access, sid)
    with transaction.atomic():
        receipt = open_receipt(access, ErasureKind.SESSION, UUID(str(found.pk)))
        erase_conversation(access, receipt, found)
        return sign_receipt(access, receipt)


def erase_conversation(access: Access, receipt: ErasureReceipt, found: Session) -> None:
    """Erase one in the running transaction and count it on the receipt, which the caller saves."""
    session = Session.objects.select_for_update().filter(pk=found.pk).first()
    if session is None:
        return
    session_id = UUID(str(session.pk))
    waiting = Job.objects.filter(vault_id=access.vault_id, dedupe_key=str(session_id), state=JobState.PENDING)
    removed = {"sessions": 1, "summaries": int(session.summary is not None), "jobs": waiting.delete()[0]}
    names = [session_id, *session.messages.values_list("pk", flat=True)]
    removed |= {thing: forget(access, names) for thing, forget in FORGETTING.items()}
    removed["notes"] = forget_notes(access, [], [session_id])
    removed["saved_views"] = forget_views(access, ErasureKind.SESSION, session.sid)
    forget_jobs(access, [session_id])
    forget_events(access, [session_id])
    removed["messages"] = session.messages.all().delete()[0]
    session.delete()
    record_audit(access, Audited("erase_session", "session", session_id, changeset_id=receipt.pk))
    count_removed(receipt, removed)

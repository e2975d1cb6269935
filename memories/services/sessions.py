"""Take in conversations: turns are appended once, whatever is sent twice, and read for memories later (TIE-09)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from banks.access import Access, KeyScope
from banks.services.audit import Audited, record_audit
from memories.jobs import JobKind
from memories.models import Job, Message, Session
from memories.rules.debounce import Patience, is_signal
from memories.rules.limits import LABEL_MAX
from memories.rules.messages import ConversationPart, MessageDraft
from memories.rules.sessionsummary import SummaryLimits, is_due
from memories.rules.vocabulary import JobState, Role
from memories.search.sessions import get_session
from memories.services.context import WriteContext
from memories.services.debouncing import debounce_job
from memories.services.jobs import enqueue_job
from memories.services.shortcut import save_preferences
from memoryhub.lib.bulk import insert_rows
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, FieldError, Invalid
from memoryhub.lib.ids import new_id


class MessageIdReused(Conflict):
    """This session has another message under that id; a message never changes, send the new one under a new id."""

    code = "message_id_reused"


class SessionLabelled(Conflict):
    """This session belongs to another user, task, agent or namespace; leave the label out or use another session."""

    code = "session_labelled"


class SessionOutOfReach(Conflict):
    """In this session somebody spoke who reaches banks that this key does not; go on under another `session_id`."""

    code = "session_out_of_reach"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of each message sent: the row, whether it is new, and the memory it was saved as at once, if any."""

    session: Session
    messages: list[tuple[Message, bool]]
    saved: dict[UUID, UUID] = field(default_factory=dict)

    @property
    def fresh(self) -> list[Message]:
        """The new ones."""
        return [message for message, is_new in self.messages if is_new]


def add_messages(access: Access, sid: str, part: ConversationPart) -> Added:
    """Append turns to a conversation, which begins with its first. Needs sessions; import to set times.

    A message whose id is known is answered and not stored again. Raises Invalid, MessageIdReused, SessionLabelled,
    SessionOutOfReach.
    """
    access.require(KeyScope.SESSIONS)
    _check(access, sid, part)
    settings = WriteContext.of(access).settings
    with transaction.atomic():
        session = _locked_session(access, sid, part)
        added = Added(session, _append(access, session, part.messages))
        if fresh := added.fresh:
            session.save()
            record_audit(access, Audited("add_messages", "session", session.pk))
            urgent = any(message.role == Role.HUMAN and is_signal(message.content) for message in fresh)
            debounce_job(session, JobKind.EXTRACT_SESSION, patience_of(settings), urgent=urgent)
            _remember_summary(session, settings)
    return replace(added, saved=save_preferences(access, session, added.fresh, settings))


def _check(access: Access, sid: str, part: ConversationPart) -> None:
    errors = []
    if not sid.strip() or len(sid) > LABEL_MAX or not sid.isprintable():
        errors.append(FieldError("/sid", "session_id", f"must be 1 to {LABEL_MAX} printable characters"))
    if access.agent and access.agent.is_isolated and part.agent_id not in {None, access.agent_id}:
        errors.append(FieldError("/agent_id", "isolated_agent", "an isolated agent speaks only as itself"))
    if any(message.created_at for message in part.messages):
        access.require(KeyScope.IMPORT)
    if errors:
        raise Invalid(errors=errors)


def patience_of(settings: dict[str, Any]) -> Patience:
    """How long extraction waits for more."""
    return Patience(
        settings["extraction_debounce_seconds"],
        settings["extraction_max_wait_seconds"],
        settings["extraction_min_items"],
    )


def summary_limits_of(settings: dict[str, Any]) -> SummaryLimits:
    """When a conversation is summarised, and what stays."""
    return SummaryLimits(
        settings["summary_message_threshold"], settings["summary_token_threshold"], settings["summary_keep_messages"]
    )


def _locked_session(access: Access, sid: str, part: ConversationPart) -> Session:
    """The session's row, made if it is not there. Raises SessionLabelled when what is said of it does not fit,
    SessionOutOfReach.
    """
    private = access.agent_id if access.agent and access.agent.is_isolated else None
    fresh = Session(
        vault_id=access.vault_id,
        sid=sid,
        private_to=private,
        namespace=part.namespace or ["default"],
        agent_id=part.agent_id or access.agent_id,
        bank_ids=None if access.bank_ids is None else sorted(access.bank_ids),
    )
    Session.objects.bulk_create([fresh], ignore_conflicts=True)
    rows = Session.objects.select_for_update(no_key=True)
    session = rows.get(vault_id=access.vault_id, sid=sid, private_to=private)
    if access.bank_ids is not None and (session.bank_ids is None or not access.bank_ids.issuperset(session.bank_ids)):
        raise SessionOutOfReach
    if part.namespace is not None and part.namespace != session.namespace:
        raise SessionLabelled
    for name in ("user_id", "agent_id", "task_id"):
        told, known = getattr(part, name), getattr(session, name)
        if told is not None and known not in {None, told}:
            raise SessionLabelled
        setattr(session, name, known or told)
    return session


def _append(access: Access, session: Session, drafts: Sequence[MessageDraft]) -> list[tuple[Message, bool]]:
    named = [draft.id for draft in drafts if draft.id]
    known = {row.external_id: row for row in session.messages.filter(external_id__in=named)} if named else {}
    added: list[tuple[Message, bool]] = []
    for draft in drafts:
        twin = known.get(draft.id) if draft.id else None
        if twin is not None:
            _refuse_another(twin, draft)
            added.append((twin, False))
            continue
        session.last_number += 1
        row = _row(access, session, draft)
        added.append((row, True))
        if draft.id:
            known[draft.id] = row
    fresh = [row for row, is_new in added if is_new]
    insert_rows(fresh)
    for row in fresh:
        session.first_message_at = min(session.first_message_at or row.created_at, row.created_at)
        session.last_message_at = max(session.last_message_at or row.created_at, row.created_at)
    return added


def _row(access: Access, session: Session, draft: MessageDraft) -> Message:
    return Message(
        id=new_id(),
        vault_id=access.vault_id,
        session_id=session.pk,
        number=session.last_number,
        external_id=draft.id,
        agent_id=access.agent_id,
        role=draft.role.value,
        content=draft.content,
        tool_calls=draft.calls or None,
        tool_call_id=draft.tool_call_id,
        tool_name=draft.tool_name,
        is_error=draft.is_error,
        tokens=draft.tokens,
        is_silent=bool(draft.tool_calls) and not draft.content.strip(),
        created_at=draft.created_at or now(),
    )


def _refuse_another(known: Message, draft: MessageDraft) -> None:
    """Raises MessageIdReused unless the draft is the same message again."""
    told = (draft.role.value, draft.content, draft.calls or None, draft.tool_call_id)
    if told != (known.role, known.content, known.tool_calls, known.tool_call_id):
        raise MessageIdReused(extra={"id": draft.id})


def _remember_summary(session: Session, settings: dict[str, Any]) -> None:
    """Enqueue a summary once there is enough that is in none (CON-11)."""
    waiting = session.messages.filter(number__gt=session.summarized_through)
    count = session.last_number - session.summarized_through
    tokens = waiting.aggregate(sum=Sum("tokens"))["sum"] or 0
    if is_due(count, tokens, summary_limits_of(settings)):
        key = str(session.pk)
        enqueue_job(session.vault_id, JobKind.SUMMARIZE_SESSION, {"session": key}, dedupe_key=key)


@dataclass(frozen=True, slots=True)
class Flushed:
    """Whether anything was waiting to be read, how many messages, and the job that reads them now."""

    queued: bool
    unread: int
    job_id: UUID | None


def flush_session(access: Access, sid: str | UUID) -> Flushed:
    """Read the conversation for memories now instead of after a quiet moment (TIE-08). Needs sessions.

    Raises NotFound.
    """
    session = get_session(access, sid)
    with transaction.atomic():
        session = Session.objects.select_for_update(no_key=True).get(pk=session.pk)
        if not session.unread:
            return Flushed(False, 0, None)
        debounce_job(session, JobKind.EXTRACT_SESSION, Patience(), urgent=True)
        waiting = {"vault_id": access.vault_id, "kind": JobKind.EXTRACT_SESSION, "dedupe_key": str(session.pk)}
        job = Job.objects.filter(**waiting, state=JobState.PENDING).first()
        record_audit(access, Audited("flush_session", "session", session.pk))
    return Flushed(True, session.unread, UUID(str(job.pk)) if job else None)

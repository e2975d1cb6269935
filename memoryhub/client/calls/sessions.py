"""Conversations, and what becomes of them: summaries, daily notes, the core document, dreams."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Unpack

from memoryhub.client.answers import AddedMessages, Answer, CoreDocument, Dream, Flushed, Page, Session, Summary, Window
from memoryhub.client.fields import ConversationLabels, Id, OneOrMore, Turn, WindowOptions
from memoryhub.client.request import Call, get, post, said, segment

type Day = dt.date | str


def add_messages(sid: str, messages: Sequence[Turn], **labels: Unpack[ConversationLabels]) -> Call[AddedMessages]:
    """Append up to 500 turns; one whose ``id`` is known is not stored again."""
    return post(f"/sessions/{segment(sid)}/messages", AddedMessages, {"messages": list(messages), **labels})


def read_window(sid: str, **options: Unpack[WindowOptions]) -> Call[Window]:
    """The turns to show a model: the last rounds that fit, tool calls whole."""
    return get(f"/sessions/{segment(sid)}/messages", Window, **options)


def list_sessions(
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    task_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Session]]:
    """Conversations, the last active first."""
    return get(
        "/sessions", Page[Session], user_id=user_id, agent_id=agent_id, task_id=task_id, limit=limit, cursor=cursor
    )


def get_session(sid: str) -> Call[Session]:
    """One conversation."""
    return get(f"/sessions/{segment(sid)}", Session)


def erase_session(sid: str) -> Call[Answer]:
    """Remove its messages and summary for good; memories made of it stay. The answer is the receipt."""
    return Call("DELETE", f"/sessions/{segment(sid)}", Answer.model_validate_json, query={"erase": True})


def read_summary(sid: str) -> Call[Summary]:
    """The running summary of what is older than the newest turns; None while there is none."""
    return get(f"/sessions/{segment(sid)}/summary", Summary)


def flush_session(sid: str) -> Call[Flushed]:
    """Have it read for memories now instead of half a minute after its last message."""
    return post(f"/sessions/{segment(sid)}/flush", Flushed)


def preview_extraction(sid: str) -> Call[Answer]:
    """What would be remembered of it; writes nothing."""
    return post(f"/sessions/{segment(sid)}/extract", Answer)


def list_daily_notes(
    *, namespace: OneOrMore | None = None, before: Day | None = None, limit: int | None = None
) -> Call[Answer]:
    """The days with a note, newest first; go on with ``before=next_before``."""
    return get("/daily", Answer, namespace=namespace, before=before, limit=limit)


def read_daily_note(date: Day, *, namespace: OneOrMore | None = None) -> Call[Answer]:
    """What was noted on a day, as lines and as ``markdown``."""
    return get(f"/daily/{segment(date)}", Answer, namespace=namespace)


def read_core_document(*, namespace: OneOrMore | None = None) -> Call[CoreDocument]:
    """What the namespace holds on to."""
    return get("/core-document", CoreDocument, namespace=namespace)


def list_core_versions(
    *, namespace: OneOrMore | None = None, before: int | None = None, limit: int | None = None
) -> Call[Answer]:
    """The document's versions, newest first."""
    return get("/core-document/versions", Answer, namespace=namespace, before=before, limit=limit)


def read_core_version(version: int, *, namespace: OneOrMore | None = None) -> Call[CoreDocument]:
    """The document as it was."""
    return get(f"/core-document/versions/{version}", CoreDocument, namespace=namespace)


def compare_core_versions(
    version: int, *, against: int | None = None, namespace: OneOrMore | None = None
) -> Call[Answer]:
    """Which lines changed between two versions."""
    return get(f"/core-document/versions/{version}/diff", Answer, against=against, namespace=namespace)


def restore_core_version(version: int, *, namespace: Sequence[str] | None = None) -> Call[CoreDocument]:
    """Go back to a version, as a new one; 0 is the empty document."""
    return post(f"/core-document/versions/{version}/restore", CoreDocument, said(namespace=namespace))


def deep_dream(*, lookback_days: int | None = None, namespace: Sequence[str] | None = None) -> Call[Dream]:
    """Make the core document's next version of the daily notes; the answer names the job that does it."""
    return post("/dreams", Dream, said(lookback_days=lookback_days, namespace=namespace))


def list_dreams(
    *, namespace: OneOrMore | None = None, before: Id | None = None, limit: int | None = None
) -> Call[Answer]:
    """Dreams, newest first."""
    return get("/dreams", Answer, namespace=namespace, before=before, limit=limit)


def get_dream(id: Id, *, namespace: OneOrMore | None = None) -> Call[Dream]:
    """What a dream did to each line and why, also as ``markdown``."""
    return get(f"/dreams/{segment(id)}", Dream, namespace=namespace)

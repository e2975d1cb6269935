"""Windows read back from stored conversations."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.rules.messages import WindowQuery
from memories.rules.settings import Level
from memories.rules.vocabulary import WindowScope
from memories.search.sessions import SessionFilter, get_session, list_messages, list_sessions, read_window
from memories.services.settings import write_setting
from memoryhub.lib.errors import NotFound
from memoryhub.lib.pagination import CursorMismatch
from tests.factories import access_of, converse, make_key

pytestmark = pytest.mark.django_db

CALL = {"role": "ai", "tool_calls": [{"id": "a", "name": "f"}, {"id": "b", "name": "g"}]}


def result(call: str, content: str = "done") -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call, "content": content}


def texts(access: Access, sid: str, **wanted: object) -> list[str]:
    return [one.message.content for one in read_window(access, sid, WindowQuery.parse(wanted)).shown]


def test_the_last_rounds_of_a_conversation(access: Access):
    """STM-02, STM-06, STM-07, STM-08: the setting says how many, a request may say so itself."""
    converse(access, "s1", {"role": "system", "content": "Be kind."}, *(f"question {n}" for n in range(12)))
    assert texts(access, "s1", max_rounds=2) == ["Be kind.", "question 10", "question 11"]
    assert len(texts(access, "s1")) == 11
    write_setting(access, Level.VAULT, "session_max_rounds", 3)
    window = read_window(access, "s1")
    assert [one.message.number for one in window.shown] == [1, 11, 12, 13]
    assert window.left_out == 9
    assert window.tokens == sum(one.message.tokens for one in window.shown)


def test_parallel_calls_stay_whole_or_are_left_out(access: Access):
    """STM-04, STM-09: nothing half-answered reaches a model."""
    converse(access, "s1", "Do it.", CALL, result("a"), result("b"), {"role": "ai", "content": "Done."})
    assert len(texts(access, "s1")) == 5
    converse(access, "s2", "Do it.", {**CALL, "content": "On it."}, result("a"), {"role": "ai", "content": "Hm."})
    window = read_window(access, "s2")
    assert [(one.message.number, one.stripped) for one in window.shown] == [(1, False), (2, True), (4, False)]


def test_a_budget_keeps_the_newest_question(access: Access):
    """STM-10, STM-11."""
    converse(access, "s1", "old " * 50, "What now? " * 40, {"role": "ai", "content": "Wait."})
    assert texts(access, "s1", max_tokens=1) == ["What now? " * 40]
    assert texts(access, "s1", limit=1) == ["What now? " * 40, "Wait."]


def test_a_window_of_a_user_or_a_task(access: Access):
    """STM-01, STM-03: over sessions, in the order things were said; other namespaces stay out."""
    converse(access, "s1", "One.", user_id="u", task_id="t")
    converse(access, "s2", "Two.", user_id="u")
    converse(access, "s3", "Elsewhere.", user_id="u", namespace=["other"])
    converse(access, "s4", "Nobody's.")
    converse(access, "s1", "Three.")
    assert texts(access, "s1", scope=WindowScope.USER) == ["One.", "Two.", "Three."]
    assert texts(access, "s1", scope=WindowScope.TASK) == ["One.", "Three."]
    assert texts(access, "s4", scope=WindowScope.USER) == ["Nobody's."]
    write_setting(access, Level.VAULT, "session_scope", "user")
    assert texts(access, "s2") == ["One.", "Two.", "Three."]


def test_a_long_conversation_opens_only_what_it_shows(access: Access):
    """ENC-20: the window of a long conversation costs as many queries as that of a short one."""
    counts = []
    for sid, length in (("short", 12), ("long", 300)):
        converse(access, sid, *(f"turn {number}" for number in range(length)))
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert len(read_window(access, sid).shown) == 10
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_sessions_are_listed_the_last_active_first(access: Access):
    for sid, user in (("s1", "u"), ("s2", "v"), ("s3", "u")):
        converse(access, sid, "Hello.", user_id=user)
    converse(access, "s1", "Again.")
    page = list_sessions(access, limit=2)
    assert [session.sid for session in page.items] == ["s1", "s3"]
    assert page.total == 3
    rest = list_sessions(access, limit=2, cursor=page.next_cursor)
    assert ([session.sid for session in rest.items], rest.next_cursor) == (["s2"], None)
    assert [one.sid for one in list_sessions(access, SessionFilter(user_id="u")).items] == ["s1", "s3"]
    with pytest.raises(CursorMismatch):
        list_sessions(access, SessionFilter(user_id="u"), cursor=page.next_cursor)


def test_messages_are_paged_backwards(access: Access):
    session = converse(access, "s1", *(f"turn {number}" for number in range(5)))
    assert [row.number for row in list_messages(access, session, limit=2)] == [4, 5]
    assert [row.number for row in list_messages(access, session, before=4, limit=2)] == [2, 3]


def test_an_isolated_agent_sees_its_own_sessions_only(access: Access):
    """CON-25."""
    create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True, "default_bank": "Work"}))
    hermit = access_of(make_key(access, agent="hermit")[1])
    converse(access, "shared", "Everybody's.")
    converse(hermit, "own", "Mine.")
    assert [session.sid for session in list_sessions(hermit).items] == ["own"]
    assert {session.sid for session in list_sessions(access).items} == {"own", "shared"}
    with pytest.raises(NotFound):
        get_session(hermit, "shared")

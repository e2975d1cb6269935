"""Every name agents know memory by, with the parameters, defaults, fields and members it is known by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import memoryhub.client as names


def parameters(what: Callable[..., Any]) -> str:
    """Its parameters by name with their defaults, without self; ``*`` before those that must be named."""
    shown: list[str] = []
    named = False
    for one in inspect.signature(what).parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not named:
            named = True
            shown.append("*")
        default = one.default
        shown.append(one.name if default is one.empty else f"{one.name}={getattr(default, 'name', repr(default))}")
    return ", ".join(shown)


SEARCH = "*, query='', metadata=None, memory_type=None, category=None, status=None, limit=10"
CLEAR = "*, metadata=None, memory_type=None, category=None, status=None"
#: Name → parameters, as the libraries' own pages give them; what we added comes after, or must be named.
SIGNATURES = {
    "ShortTermMemory": "scope='session'",
    "ShortTermMemory.add": "item",
    "ShortTermMemory.get": "item_id",
    "ShortTermMemory.search": SEARCH,
    "ShortTermMemory.clear": CLEAR,
    "ShortTermMemory.get_messages": "metadata=None, max_rounds=None, max_tokens=None, limit=None",
    "MemoryStore.add": "item",
    "MemoryStore.get": "item_id",
    "MemoryStore.search": SEARCH,
    "MemoryStore.clear": CLEAR,
    "LongTermMemory": "namespace='default', update_checker=None, *, hub=None, store=None",
    "LongTermMemory.add": "item=None, *, content=None, extraction_type=None, metadata=None",
    "LongTermMemory.search": SEARCH,
    "SQLiteMemoryStore": "path=':memory:', namespace='default'",
    "SQLiteMemoryStore.search": SEARCH,
    "EncryptedMemoryStore": "store, secret",
    "EncryptedMemoryStore.search": SEARCH,
    "MemoryEventEmitter": "store, bus",
    "MemoryEventEmitter.search": SEARCH,
    "MemoryEventEmitter.clear": CLEAR,
    "EventBus": "",
    "EventBus.subscribe": "name, handler",
    "MemUpdateChecker": "store, checker, similarity_threshold=0.75, top_k=5",
    "MemUpdateChecker.check": "item",
    "UpdateDecision": "*, action, target_id=None, merged_content=None, reason=''",
    "Migration": "*, version, description, up_sql",
    "MigrationRunner": "migrations",
    "MigrationRunner.run": "db",
    "MemoryOrchestrator": "config=None, memory=None",
    "MemoryOrchestrator.submit": "messages, extractor=None",
    "MemoryOrchestrator.process_all": "",
    "check_trigger": "messages, config=None",
    "generate_summary": "messages, summarizer, template=CONVERSATION, previous='', max_tokens=500",
    "MemoryPersistence": "store, metadata=None",
    "MemoryPersistence.attach": "agent",
    "MemoryPersistence.detach": "agent",
    "MemoryItem.transition": "new_status",
    "NamespaceTemplate": "parts",
    "MemoryEngine": "hub=None, scope=None, metadata=None, actions=('create', 'update', 'delete')",
    "MemoryEngine.manage": "content=None, action='create', id=None, scope=None, metadata=None",
    "MemoryEngine.search": "query, limit=10, scope=None",
    "MemoryEngine.flush": "messages, scope=None, session_id=None",
    "MemoryEngine.dream": "lookback_days=3, scope=None, *, wait=0.0",
    "MemoryEngine.manage_memory": "content=None, action='create', id=None, scope=None, metadata=None",
    "MemoryEngine.search_memory": "query, limit=10, scope=None",
    "MemoryEngine.flush_messages": "messages, scope=None",
    "MemoryEngine.deep_dream": "lookback_days=3, scope=None",
    "MemoryEngine.format_for_injection": "scope=None, max_tokens=2000, query=None",
    "manage_memory": "content=None, action='create', id=None, scope=None, metadata=None",
    "search_memory": "query, limit=10, scope=None",
    "format_for_injection": "scope=None, max_tokens=2000, query=None",
}
#: Model → its fields with their defaults.
FIELDS = {
    "MemoryItem": "id content memory_type=None status=accepted category=None metadata created_at updated_at",
    "SystemMemory": "id content memory_type=system status=accepted category=None metadata created_at updated_at",
    "HumanMemory": "id content memory_type=human status=accepted category=None metadata created_at updated_at",
    "AIMemory": "id content memory_type=ai status=accepted category=None metadata created_at updated_at tool_calls=[]",
    "ToolMemory": "id content memory_type=tool status=accepted category=None metadata created_at updated_at "
    "tool_call_id tool_name= is_error=False",
    "MemoryMetadata": "user_id=None session_id=None task_id=None agent_id=None extra={}",
    "SummaryConfig": "threshold=20 template=conversation max_tokens=4000 keep_recent=4",
}
MEMBERS = {
    "MemoryStatus": {"DRAFT", "ACCEPTED", "DISCARD"},
    "MemoryCategory": {"USER_PROFILE", "SEMANTIC", "EPISODIC", "VARIABLE", "SUMMARY"},
    "ExtractionType": {"USER_PROFILE", "AGENT_EXPERIENCE", "FACTS"},
    "SummaryTemplate": {"CONVERSATION", "FACTS", "PROFILES"},
    "UpdateAction": {"ADD", "UPDATE", "SKIP", "SUPERSEDE"},
    "HookPoint": {"POST_LLM_CALL", "POST_TOOL_CALL"},
}


@pytest.mark.parametrize(("name", "wanted"), SIGNATURES.items())
def test_a_name_has_the_signature_it_is_known_by(name: str, wanted: str):
    what: Any = names
    for step in name.split("."):
        what = getattr(what, step)
    assert parameters(what) == wanted


@pytest.mark.parametrize(("name", "wanted"), FIELDS.items())
def test_a_model_has_the_fields_it_is_known_by(name: str, wanted: str):
    fields = getattr(names, name).model_fields
    drawn = {"id", "metadata", "created_at", "updated_at"}
    shown = [
        one if info.is_required() or one in drawn else f"{one}={getattr(info.default, 'value', info.default)}"
        for one, info in fields.items()
    ]
    assert shown == wanted.split(" ")


@pytest.mark.parametrize(("name", "wanted"), MEMBERS.items())
def test_an_enumeration_has_its_members(name: str, wanted: set[str]):
    assert set(getattr(names, name).__members__) == wanted


def test_the_four_of_a_store_are_awaited():
    """add also acts without being awaited; the other three are coroutines everywhere."""
    for kind in ("ShortTermMemory", "LongTermMemory", "SQLiteMemoryStore", "HubMemoryStore", "EncryptedMemoryStore"):
        store = getattr(names, kind)
        assert all(inspect.iscoroutinefunction(getattr(store, verb)) for verb in ("get", "search", "clear"))
        assert not inspect.iscoroutinefunction(store.add)
    assert all(inspect.iscoroutinefunction(getattr(names.MemoryStore, verb)) for verb in ("get", "search", "clear"))
    for what in (names.MigrationRunner.run, names.MemoryOrchestrator.process_all, names.generate_summary):
        assert inspect.iscoroutinefunction(what)
    assert inspect.iscoroutinefunction(names.MemUpdateChecker.check)

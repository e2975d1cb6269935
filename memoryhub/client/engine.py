"""Memory behind four verbs: manage, search, flush, dream; and the two tools an agent is given (TIE-15, CON-21)."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from memories.rules.limits import MESSAGES_MAX
from memoryhub.client.answers import SearchResult
from memoryhub.client.defaulthub import shared_hub
from memoryhub.client.fields import MemoryChanges, MemoryFields, Turn
from memoryhub.client.hub import MemoryHub
from memoryhub.client.items import AIMemory, MemoryItem, MemoryMetadata, Said, ToolMemory
from memoryhub.client.namespaces import NamespaceTemplate

type Action = Literal["create", "update", "delete"]
type Scope = str | Sequence[str] | None

ACTIONS: tuple[Action, ...] = ("create", "update", "delete")
_POLL_SECONDS = 0.25
_FIELDS = frozenset(MemoryFields.__optional_keys__)
_CHANGES = frozenset(MemoryChanges.__optional_keys__)
_OVER = frozenset({"done", "unchanged", "skipped", "failed"})


class MemoryEngine:
    """For callers without an event loop. ``scope`` is the namespace, ``("user", "u-123")``; a template is filled from
    ``metadata``. ``actions`` says what an agent may do with ``manage``.
    """

    def __init__(
        self,
        hub: MemoryHub | None = None,
        scope: Scope | NamespaceTemplate = None,
        metadata: MemoryMetadata | None = None,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        self.hub = hub or shared_hub()
        self.metadata = metadata or MemoryMetadata()
        filled = scope(**self.metadata.labels) if isinstance(scope, NamespaceTemplate) else scope
        self.namespace = _namespace(filled) or ["default"]
        self.actions = tuple(actions)
        self.session_id = self.metadata.session_id or f"engine-{uuid.uuid4().hex[:12]}"

    def manage(
        self,
        content: str | None = None,
        action: Action = "create",
        id: str | None = None,
        scope: Scope = None,
        metadata: MemoryMetadata | Mapping[str, Any] | None = None,
    ) -> str:
        """Create, update or delete (archive) a memory; its id. Raises ValueError for what does not go together.

        A mapping as ``metadata`` may name labels of the hub (type, bank, importance, …); the rest goes into ``extra``.
        """
        self._check(action, content, id)
        if action == "delete":
            self.hub.delete_memory(str(id))
            return str(id)
        labels = self._labels(metadata, _FIELDS if action == "create" else _CHANGES)
        if action == "update":
            changes = cast("MemoryChanges", labels if content is None else {"content": content, **labels})
            return str(self.hub.update_memory(str(id), **changes).id)
        fields = cast("MemoryFields", {**self.metadata.labels, **labels})
        fields["namespace"] = _namespace(scope) or self.namespace
        return str(self.hub.write_memory(str(content), **fields).memory.id)

    def search(self, query: str, limit: int = 10, scope: Scope = None) -> list[SearchResult]:
        """The memories of the scope that answer a question, best first."""
        return self.hub.search_memories(query, top_k=limit, namespace=_namespace(scope) or self.namespace).results

    def flush(self, messages: Sequence[Said], scope: Scope = None, session_id: str | None = None) -> bool:
        """Hand a conversation on and have it read for memories now; False when nothing in it is new.

        The whole list may be given every time: what was sent before is known again.
        """
        sid = session_id or _session_of(messages) or self.session_id
        turns = [_turn(sid, place, one) for place, one in enumerate(messages)]
        if not turns:
            return False
        namespace = _namespace(scope) or self.namespace
        whose = {name: one for name, one in self.metadata.labels.items() if name != "session_id"}
        for start in range(0, len(turns), MESSAGES_MAX):
            part = turns[start : start + MESSAGES_MAX]
            self.hub.add_messages(sid, part, namespace=namespace, **cast("Any", whose))
        return self.hub.flush_session(sid).queued

    def dream(self, lookback_days: int = 3, scope: Scope = None, *, wait: float = 0.0) -> bool:
        """Have the core document made anew of the last days' notes. Whether it was begun, or, with seconds to
        ``wait``, whether the document has changed by then.
        """
        namespace = _namespace(scope) or self.namespace
        dream = self.hub.deep_dream(lookback_days=lookback_days, namespace=namespace)
        until = time.monotonic() + wait
        while wait and dream.state not in _OVER and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            dream = self.hub.get_dream(dream.id, namespace=namespace)
        return dream.state == "done" if wait else dream.state not in {"skipped", "failed"}

    def format_for_injection(self, scope: Scope = None, max_tokens: int = 2_000, query: str | None = None) -> str:
        """What belongs into a prompt, in at most so many tokens; empty when there is nothing (INJ-01, 02, 06)."""
        namespace = _namespace(scope) or self.namespace
        return self.hub.format_for_injection(query, max_tokens, namespace=namespace).text

    def manage_memory(
        self,
        content: str | None = None,
        action: Action = "create",
        id: str | None = None,
        scope: Scope = None,
        metadata: MemoryMetadata | Mapping[str, Any] | None = None,
    ) -> str:
        """Remember something (create), correct it (update, with its id) or put it away (delete, with its id)."""
        return self.manage(content, action, id, scope, metadata)

    def search_memory(self, query: str, limit: int = 10, scope: Scope = None) -> list[SearchResult]:
        """Look for what is remembered about a question; best first."""
        return self.search(query, limit, scope)

    def flush_messages(self, messages: Sequence[Said], scope: Scope = None) -> bool:
        """The long name of ``flush``."""
        return self.flush(messages, scope)

    def deep_dream(self, lookback_days: int = 3, scope: Scope = None) -> bool:
        """The long name of ``dream``."""
        return self.dream(lookback_days, scope)

    @property
    def tools(self) -> list[Callable[..., Any]]:
        """The two functions to give to an agent, with their names, signatures and docstrings."""
        return [self.manage_memory, self.search_memory]

    def _check(self, action: str, content: str | None, id: str | None) -> None:
        if action not in get_args(Action.__value__) or action not in self.actions:
            raise ValueError(f"The action {action!r} is not one of {', '.join(self.actions)}.")
        if action == "create" and (id is not None or not content):
            raise ValueError("To create, give content and no id.")
        if action != "create" and id is None:
            raise ValueError(f"To {action}, give the id.")

    def _labels(self, metadata: MemoryMetadata | Mapping[str, Any] | None, known: frozenset[str]) -> dict[str, Any]:
        if metadata is None:
            return {}
        given = {**metadata.labels, **metadata.extra} if isinstance(metadata, MemoryMetadata) else dict(metadata)
        labels = {name: value for name, value in given.items() if name in known}
        others = {name: value for name, value in given.items() if name not in known}
        return {**labels, "extra": {**labels.get("extra", {}), **others}} if others else labels


def manage_memory(
    content: str | None = None,
    action: Action = "create",
    id: str | None = None,
    scope: Scope = None,
    metadata: MemoryMetadata | Mapping[str, Any] | None = None,
) -> str:
    """Remember something (create), correct it (update, with its id) or put it away (delete, with its id); the id."""
    return MemoryEngine().manage(content, action, id, scope, metadata)


def search_memory(query: str, limit: int = 10, scope: Scope = None) -> list[SearchResult]:
    """Look for what is remembered about a question; best first."""
    return MemoryEngine().search(query, limit, scope)


def format_for_injection(scope: Scope = None, max_tokens: int = 2_000, query: str | None = None) -> str:
    """What belongs into a prompt, in at most so many tokens."""
    return MemoryEngine().format_for_injection(scope, max_tokens, query)


def _namespace(scope: Scope) -> list[str] | None:
    if scope is None:
        return None
    return [scope] if isinstance(scope, str) else list(scope)


def _session_of(messages: Sequence[Said]) -> str | None:
    named = (one.metadata.session_id for one in messages if isinstance(one, MemoryItem))
    return next((each for each in named if each), None)


def _turn(sid: str, place: int, said: Said) -> Turn:
    """A message as the hub takes it. One without an id is known by its place and what it says."""
    if not isinstance(said, MemoryItem):
        digest = hashlib.sha256(f"{sid}\0{place}\0{said.get('role')}\0{said.get('content')}".encode()).hexdigest()
        return cast("Turn", {"id": digest[:32], **said})
    turn: Turn = {"id": said.id, "role": said.memory_type or "ai", "content": said.content}
    if isinstance(said, AIMemory):
        turn["tool_calls"] = [
            {"id": each["id"], "name": each["function"]["name"], "arguments": each["function"]["arguments"]}
            for each in said.tool_calls
        ]
    if isinstance(said, ToolMemory):
        turn.update({"tool_call_id": said.tool_call_id, "tool_name": said.tool_name, "is_error": said.is_error})
    return turn

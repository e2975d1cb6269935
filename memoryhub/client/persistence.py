"""Saves what a model answers and what tools give back, by hooks of an agent (EXT-21…25)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol
from uuid import NAMESPACE_OID, uuid5

from memoryhub.client.acting import act
from memoryhub.client.items import AIMemory, MemoryItem, MemoryMetadata, ToolMemory
from memoryhub.client.stores import MemoryStore

type Hook = Callable[..., Awaitable[None]]


class HookPoint(StrEnum):
    """When an agent calls its hooks."""

    POST_LLM_CALL = "POST_LLM_CALL"
    POST_TOOL_CALL = "POST_TOOL_CALL"


class HookedAgent(Protocol):
    """Any object with these two."""

    def add_hook(self, point: str, hook: Any, /) -> Any:
        """Call ``hook`` at this point from now on."""

    def remove_hook(self, point: str, hook: Any, /) -> Any:
        """Do not any more."""


class MemoryPersistence:
    """While it is attached, every answer is saved as AIMemory and every tool result as ToolMemory.

    What people say is the caller's to save, before the run. A response that has an id is saved once, however often the
    hook is called with it, as streaming agents do.
    """

    def __init__(self, store: MemoryStore, metadata: MemoryMetadata | None = None) -> None:
        self.store = store
        self.metadata = metadata or MemoryMetadata()
        self._attached: list[HookedAgent] = []
        self._hooks: dict[HookPoint, Hook] = {
            HookPoint.POST_LLM_CALL: self.save_response,
            HookPoint.POST_TOOL_CALL: self.save_result,
        }

    def attach(self, agent: HookedAgent) -> None:
        """Begin; attaching twice changes nothing."""
        if self._is_attached(agent):
            return
        for point, hook in self._hooks.items():
            agent.add_hook(point, hook)
        self._attached.append(agent)

    def detach(self, agent: HookedAgent) -> None:
        """End; its hooks are gone."""
        if not self._is_attached(agent):
            return
        for point, hook in self._hooks.items():
            agent.remove_hook(point, hook)
        self._attached = [one for one in self._attached if one is not agent]

    def save_response(self, *given: Any, **named: Any) -> Awaitable[None]:
        """The hook after a model's call: the response is ``response=``, else the last argument that has content."""
        response = named.get("response", given[-1] if given else named)
        text, calls = _text(response), [_call(each) for each in _part(response, "tool_calls") or []]
        item = AIMemory(content=text, tool_calls=calls, metadata=self.metadata)
        return self._save(item, _part(response, "id"))

    def save_result(self, *given: Any, **named: Any) -> Awaitable[None]:
        """The hook after a tool's call: ``result=`` and, in it or beside it, tool_call_id, tool_name, is_error."""
        result = named.get("result", given[-1] if given else named)

        def said(*names: str) -> Any:
            found = (value for name in names for value in (_part(result, name), named.get(name)))
            return next((value for value in found if value is not None), None)

        error = said("is_error", "error")
        item = ToolMemory(
            content=_text(result),
            tool_call_id=str(said("tool_call_id", "call_id", "id") or ""),
            tool_name=str(said("tool_name", "name") or ""),
            is_error=bool(error),
            metadata=self.metadata,
        )
        return self._save(item, said("tool_call_id", "call_id", "id"))

    def _is_attached(self, agent: HookedAgent) -> bool:
        """By identity: an agent may be of a kind that cannot be hashed."""
        return any(one is agent for one in self._attached)

    def _save(self, item: MemoryItem, known_as: Any) -> Awaitable[None]:
        if known_as:
            whose = [str(item.memory_type), str(known_as), *self.metadata.labels.values()]
            item.id = uuid5(NAMESPACE_OID, json.dumps(whose)).hex
        return act(self.store.add(item))


def _part(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _text(of: Any) -> str:
    """What it says: itself, or its content, output, text, result or error; empty text counts as said."""
    if isinstance(of, str):
        return of
    names = ("content", "output", "text", "result", "error")
    said = next((value for name in names if (value := _part(of, name)) is not None), "")
    if isinstance(said, str):
        return said
    if isinstance(said, Sequence):  # content in parts
        return "".join(part if isinstance(part, str) else str(_part(part, "text") or "") for part in said)
    return json.dumps(said, default=str, ensure_ascii=False)


def _call(call: Any) -> dict[str, Any]:
    """A tool call as it is kept: ``{"id", "function": {"name", "arguments": "<JSON>"}}`` (MOD-07)."""
    function = _part(call, "function") or call
    arguments = _part(function, "arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, default=str, ensure_ascii=False)
    return {"id": str(_part(call, "id")), "function": {"name": str(_part(function, "name")), "arguments": arguments}}

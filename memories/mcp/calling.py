"""One call of a tool: allowed, done in the request's thread, and told so that a model can go on from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic_core import to_json, to_jsonable_python

from banks.access import Access
from memories.mcp.tools import TOOLS, Tool
from memoryhub.lib.errors import FieldError, HubError, Kind

#: A model corrects what it reads; more of the same would only cost.
MISTAKES_TOLD = 10


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and the two things only the hub's frame knows: how to count a write and what a failure means."""

    access: Access
    spend_write: Callable[[], None]
    understand: Callable[[BaseException], HubError | None]

    def tools(self) -> list[Tool]:
        """Those the caller's key may use."""
        return [tool for tool in TOOLS.values() if self.access.has(tool.scope)]


def call_tool(caller: Caller, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
    """What the tool answers, or what went wrong and what to do about it. Raises what is a mistake of ours."""
    try:
        caller.access.require(tool.scope)
        if tool.writes:
            caller.spend_write()
        return _told(tool.body(caller.access, arguments))
    except Exception as failure:
        error = caller.understand(failure)
        if error is None or error.kind is Kind.INTERNAL:
            raise
        return _failed(error, _mistakes(tool, arguments, error.errors[:MISTAKES_TOLD]))


def _told(shown: dict[str, Any]) -> CallToolResult:
    # The text repeats the structure: clients that know no structured content show it to the model.
    text = TextContent(type="text", text=to_json(shown).decode())
    return CallToolResult(content=[text], structured_content=to_jsonable_python(shown))


def _failed(error: HubError, mistakes: list[str]) -> CallToolResult:
    text = "\n".join([f"{error.code}: {error.message}", *mistakes])
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"code": error.code, "message": error.message, "errors": mistakes},
        is_error=True,
    )


def _mistakes(tool: Tool, arguments: Mapping[str, Any], errors: Iterable[FieldError]) -> list[str]:
    """What is wrong where, in the caller's own spelling, else in the schema's."""
    spelled = {tool.takes.canonical(name): name for name in (*tool.schema["properties"], *arguments)}
    told = []
    for error in errors:
        field, *deeper = error.pointer.removeprefix("/").split("/")
        unknown = error.code == "extra_forbidden" and not deeper
        detail = f"no such argument; there are {_listed(tool)}" if unknown else error.detail
        told.append(f"/{'/'.join([spelled.get(field, field), *deeper])}: {detail}")
    return told


def _listed(tool: Tool) -> str:
    return ", ".join(tool.schema["properties"]) or "none"

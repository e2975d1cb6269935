"""One call of a tool: allowed, done in the request's thread, and told so that a model can go on from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic_core import to_json, to_jsonable_python

from banks.access import Access
from memories.mcp.tools import TOOLS, Tool
from memoryhub.lib.errors import HubError, Kind


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
        return _failed(error.code, error.message, [f"{item.pointer}: {item.detail}" for item in error.errors])


def _told(shown: dict[str, Any]) -> CallToolResult:
    # The text repeats the structure: clients that know no structured content show it to the model.
    text = TextContent(type="text", text=to_json(shown).decode())
    return CallToolResult(content=[text], structured_content=to_jsonable_python(shown))


def _failed(code: str, message: str, details: list[str] | None = None) -> CallToolResult:
    text = "\n".join([f"{code}: {message}", *(details or [])])
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"code": code, "message": message, "errors": details or []},
        is_error=True,
    )

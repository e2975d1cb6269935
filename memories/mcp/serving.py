"""The server: the official SDK speaks the protocol in all its versions, stateless, one JSON answer a request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp_types import Tool as ToolOut

from memories.mcp.calling import Caller, call_tool
from memories.mcp.exchange import Exchange, keep_running, protocol_loop
from memories.mcp.mistakes import tell_mistakes
from memories.mcp.tools import TOOLS

INSTRUCTIONS = (
    "Long-term memory shared by agents and people. Search before you answer or write; write what will still matter"
    " next week, one fact at a time; correct with supersededById instead of writing a second truth."
)
#: Of the tools: their names, what they take and what they answer.
VERSION = "1.0.0"
_EXCHANGE, _CALLER = "memoryhub.exchange", "memoryhub.caller"


def answer_mcp(request: HttpRequest, caller: Caller) -> HttpResponse:
    """The protocol's answer to one POST; its tools run in this thread, as ``caller``."""
    loop = protocol_loop()
    exchange = Exchange(loop)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "root_path": "",
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.items()],
        _EXCHANGE: exchange,
        _CALLER: caller,
    }
    answer = tell_mistakes(request.body, exchange.answer(_manager().handle_request, scope, request.body))
    response = HttpResponse(answer.body, status=answer.status)
    for name, value in answer.headers:
        response.headers[name] = value
    return response


async def _list_tools(context: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None) -> ListToolsResult:
    caller: Caller = context.request.scope[_CALLER]  # type: ignore[union-attr]
    return ListToolsResult(tools=[_tool_out(tool.name) for tool in caller.tools()])


async def _call_tool(context: ServerRequestContext[Any, Any], call: CallToolRequestParams) -> CallToolResult:
    scope = context.request.scope  # type: ignore[union-attr]
    exchange: Exchange = scope[_EXCHANGE]
    tool = TOOLS.get(call.name)
    if tool is None:
        raise MCPError(INVALID_PARAMS, f"There is no tool {call.name[:64]!r}. The tools are: {', '.join(TOOLS)}.")
    return await exchange.in_request_thread(lambda: call_tool(scope[_CALLER], tool, call.arguments or {}))


@cache
def _tool_out(name: str) -> ToolOut:
    tool = TOOLS[name]
    hints = ToolAnnotations(
        read_only_hint=not tool.writes,
        destructive_hint=tool.ask_first,
        idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )
    return ToolOut(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.schema),
        output_schema=dict(tool.answers),
        annotations=hints,
    )


def _schema(name: str) -> Mapping[str, Any] | None:
    """What the SDK holds headers against; asked of ``tools/list``, every call would make the list anew."""
    return TOOLS[name].schema if name in TOOLS else None


@cache
def _manager() -> StreamableHTTPSessionManager:
    """One for the process, running on its loop."""
    server = Server(
        "memoryhub",
        version=VERSION,
        title="MemoryHub",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_schema,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
    )
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        # Django has checked the Host header and the size of the body already, against the hub's own limits.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    )
    keep_running(manager.run(), protocol_loop())
    return manager

"""MCP over stdin and stdout, for clients that start a program: every message goes to a running hub and back.

The tools are the hub's; nothing is known here of what they do, so this program never needs the database or the keys.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent

SECONDS = 60


async def serve_stdio(url: str, key: str) -> None:
    """Serve until stdin ends, as the caller behind ``key``. Raises MCPError when the hub does not answer or refuses."""
    async with _hub(url, key) as client:
        server = _server(client)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def _hub(url: str, key: str) -> AbstractAsyncContextManager[Client]:
    return _connected(url.rstrip("/") + "/mcp", {"Authorization": f"Bearer {key}"})


@asynccontextmanager
async def _connected(url: str, headers: dict[str, str]) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def _server(client: Client) -> Server[Any]:
    async def list_tools(_: ServerRequestContext[Any, Any], page: PaginatedRequestParams | None) -> ListToolsResult:
        return await client.list_tools(cursor=page.cursor if page else None)

    async def call_tool(_: ServerRequestContext[Any, Any], call: CallToolRequestParams) -> CallToolResult:
        try:
            return await client.call_tool(call.name, call.arguments)
        except (MCPError, httpx2.HTTPError) as error:
            text = f"The hub did not answer ({error}). Is it running? Nothing is known to have changed; try again."
            return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

    return Server(
        "memoryhub",
        instructions=client.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )

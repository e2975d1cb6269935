"""How an agent connects: the lines to copy, with this hub's own address."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banks.access import KeyScope
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.web.requests import HubRequest


@dataclass(frozen=True, slots=True)
class McpClient:
    """A client, the lines that connect it, and the file they belong in when it is not a command."""

    name: str
    lines: str
    where: str = ""


def mcp_clients(hub_url: str) -> list[McpClient]:
    """Ready lines for the clients people use; the key comes from the environment where a client can read it there."""
    url = f"{hub_url}/mcp"
    header = '"Authorization: Bearer $MEMORYHUB_KEY"'
    return [
        McpClient("Claude Code", f"claude mcp add --transport http memoryhub {url} --header {header}"),
        McpClient(
            "Codex",
            f'[mcp_servers.memoryhub]\nurl = "{url}"\nbearer_token_env_var = "MEMORYHUB_KEY"',
            "~/.codex/config.toml",
        ),
        McpClient("Cursor", _json("mcpServers", {"url": url}, "${env:MEMORYHUB_KEY}"), "~/.cursor/mcp.json"),
        McpClient(
            "VS Code", _json("servers", {"type": "http", "url": url}, "${env:MEMORYHUB_KEY}"), ".vscode/mcp.json"
        ),
        McpClient("Gemini CLI", f"gemini mcp add --transport http memoryhub {url} --header {header}"),
        McpClient("Any client that starts a program", f"uv run manage.py mcp --url {hub_url} --key $MEMORYHUB_KEY"),
        McpClient("Python", _PYTHON.format(url=url)),
    ]


def _json(root: str, server: dict[str, str], key: str) -> str:
    headed = {**server, "headers": {"Authorization": f"Bearer {key}"}}
    return json.dumps({root: {"memoryhub": headed}}, indent=2)


_PYTHON = """import asyncio, os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {{"Authorization": f"Bearer {{os.environ['MEMORYHUB_KEY']}}"}}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client("{url}", http_client=http)) as client:
            print(await client.call_tool("search_memories", {{"query": "what do I like to drink?"}}))

asyncio.run(main())"""


def connect(request: HubRequest) -> HttpResponse:
    """Three curl lines (who am I, remember, find) and the lines of every MCP client."""
    hub_url = request.build_absolute_uri("/").rstrip("/")
    context = {
        "hub_url": hub_url,
        "clients": mcp_clients(hub_url),
        "may_issue": request.access.has(KeyScope.KEYS_ADMIN),
    }
    return answer_page(request, "banks/connect.html", context)

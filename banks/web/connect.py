"""How an agent connects: the lines to copy, with this hub's own address and the prefix of a key."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.http import urlencode

from banks.access import KeyScope
from banks.services.keys import list_keys
from banks.web.keystates import state_of
from memoryhub.lib.clock import now
from memoryhub.lib.pages import answer_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.models import ApiKey
    from banks.web.requests import HubRequest


_OPENED = "connect_opened"
_AN_HOUR = dt.timedelta(hours=1)
_A_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Lines:
    """What to paste, where it belongs when it is no command, and what it does."""

    lines: str
    title: str = ""
    where: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to connect: a tab with its lines."""

    slug: str
    name: str
    parts: list[Lines]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """A way as a link."""

    name: str
    url: str
    selected: bool


def ways_to_connect(hub_url: str) -> list[Way]:
    """Ready lines for the clients people use; the key comes from the environment where a client can read it there."""
    url = f"{hub_url}/mcp"
    header = '"Authorization: Bearer $MEMORYHUB_KEY"'
    mcp = f"Seven tools over the Model Context Protocol. {url}/banks/work is the same for the bank Work only."
    return [
        Way("curl", "curl", _curl(hub_url), "Anything that can send JSON over HTTP can remember."),
        Way("python", "Python", _python(hub_url), "The hub's own library: types, retries, pages, errors as classes."),
        Way(
            "claude-code",
            "Claude Code",
            [Lines(f"claude mcp add --transport http memoryhub {url} --header {header}")],
            mcp,
        ),
        Way(
            "codex",
            "Codex",
            [
                Lines(f"codex mcp add memoryhub --url {url} --bearer-token-env-var MEMORYHUB_KEY"),
                Lines(_CODEX.format(url=url), "Or by hand", where="~/.codex/config.toml"),
            ],
            mcp,
        ),
        Way(
            "cursor",
            "Cursor",
            [Lines(_config("mcpServers", {"url": url, **_bearer("${env:MEMORYHUB_KEY}")}), where="~/.cursor/mcp.json")],
            mcp,
        ),
        Way("vscode", "VS Code", [_vscode(url)], mcp),
        Way(
            "gemini",
            "Gemini CLI",
            [Lines(f"gemini mcp add --scope user --transport http memoryhub {url} --header {header}")],
            mcp,
        ),
        Way(
            "stdio",
            "Any MCP client",
            [
                Lines(
                    _config("mcpServers", _STDIO | {"env": {"MEMORYHUB_URL": hub_url, "MEMORYHUB_KEY": "mh_live_…"}}),
                    "The configuration of a client that starts a program",
                    about="The path is the folder the hub was cloned into; all the program needs is a hub that runs.",
                ),
                Lines(
                    _SDK.format(url=url),
                    "A program with the protocol's library for Python",
                    about="pip install mcp",
                ),
            ],
            mcp,
        ),
    ]


def _curl(hub_url: str) -> list[Lines]:
    key, json_type = '-H "Authorization: Bearer $MEMORYHUB_KEY"', '-H "Content-Type: application/json"'
    remembered = '{"content": "Prefers oat milk in coffee.", "type": "preference", "bank": "Personal"}'
    asked = '{"query": "what goes into the coffee, oat milk?", "top_k": 5}'
    return [
        Lines(f"curl -s {hub_url}/api/v1/whoami {key}", "Say who you are"),
        Lines(
            f"curl -s {hub_url}/api/v1/memories {key} \\\n  {json_type} \\\n  -d '{remembered}'",
            "Remember",
            about="A near-duplicate is not stored twice; the answer says what happened and why.",
        ),
        Lines(
            f"curl -s {hub_url}/api/v1/memories/search {key} \\\n  {json_type} \\\n  -d '{asked}'",
            "Recall",
            about="By meaning and by words at once.",
        ),
    ]


def _python(hub_url: str) -> list[Lines]:
    return [
        Lines(
            "pip install path/to/memoryhub",
            "Install it where the agent runs",
            about="The path is the folder the hub was cloned into. Only the library is installed, not the hub.",
        ),
        Lines(_CLIENT.format(url=hub_url), "Remember and recall", about="The key is read from MEMORYHUB_KEY."),
    ]


def _vscode(url: str) -> Lines:
    """Started from the desktop it does not see what a shell exports, so it asks for the key once and keeps it."""
    asked = {"type": "promptString", "id": "memoryhub-key", "description": "Key of MemoryHub", "password": True}
    server = {"type": "http", "url": url, **_bearer("${input:memoryhub-key}")}
    return Lines(
        _config("servers", server, inputs=[asked]),
        where=".vscode/mcp.json",
        about="VS Code asks for the key once and keeps it safe.",
    )


def _bearer(key: str) -> dict[str, dict[str, str]]:
    return {"headers": {"Authorization": f"Bearer {key}"}}


def _config(root: str, server: Mapping[str, object], **beside: object) -> str:
    return json.dumps({**beside, root: {"memoryhub": server}}, indent=2, ensure_ascii=False)


_STDIO = {"command": "uv", "args": ["run", "--directory", "path/to/memoryhub", "manage.py", "mcp"]}
_CODEX = """[mcp_servers.memoryhub]
url = "{url}"
bearer_token_env_var = "MEMORYHUB_KEY\""""
_CLIENT = """from memoryhub.client import MemoryHub

with MemoryHub("{url}") as hub:
    hub.write_memory("Prefers oat milk in coffee.", type="preference")
    for found in hub.search_memories("what goes into the coffee?").results:
        print(found.score, found.content)"""
_SDK = """import asyncio, os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {{"Authorization": f"Bearer {{os.environ['MEMORYHUB_KEY']}}"}}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(streamable_http_client("{url}", http_client=http)) as client:
            found = await client.call_tool("search_memories", {{"query": "what goes into the coffee?"}})
            print(found.content[0].text)

asyncio.run(main())"""


def connect(request: HubRequest) -> HttpResponse:
    """The chosen way's lines, and the light that turns green with the first call."""
    hub_url = request.build_absolute_uri("/").rstrip("/")
    ways, asked = ways_to_connect(hub_url), request.GET
    chosen = next((way for way in ways if way.slug == asked.get("way")), ways[0])
    may_issue = request.access.has(KeyScope.KEYS_ADMIN)
    live = [key for key in list_keys(request.access) if state_of(key).live] if may_issue else []
    key = next((one for one in live if str(one.pk) == asked.get("key")), None)
    kept = {"key": str(key.pk)} if key else {}
    context = {
        "way": chosen,
        "tabs": [
            Tab(way.name, f"{request.path}?{urlencode({'way': way.slug, **kept})}", way is chosen) for way in ways
        ],
        "keys": live,
        "key": key,
        "prefix": f"{key.prefix}_…" if key else "mh_live_…",
        "call_url": f"{reverse('first_call')}?{urlencode({'since': _since(request, key), **kept})}",
        "may_issue": may_issue,
    }
    return answer_page(request, "banks/connect.html", context)


def _since(request: HubRequest, key: ApiKey | None) -> str:
    """From when on a call counts: of a chosen key any of the last day does, whoever was signed in then."""
    return _opened(request) if key is None else (now() - _A_DAY).isoformat(timespec="seconds")


def _opened(request: HubRequest) -> str:
    """When the page was opened first: a reload goes on waiting where it was, another day begins anew."""
    at, opened = now(), request.session.get(_OPENED, "")
    if not opened or dt.datetime.fromisoformat(opened) < at - _AN_HOUR:
        opened = request.session[_OPENED] = at.isoformat(timespec="seconds")
    return str(opened)

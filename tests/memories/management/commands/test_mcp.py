"""``manage.py mcp`` as a client starts it: a program on stdin and stdout, a hub elsewhere."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from memories.models import Memory
from memoryhub.env import BASE_DIR

pytestmark = pytest.mark.slow


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_tools_over_stdin_and_stdout(live_server: Any, secret: str, mode: Any):
    """The hub's list, a write, an error, as over HTTP."""
    program = StdioServerParameters(
        command=sys.executable,
        args=[str(BASE_DIR / "manage.py"), "mcp", "--url", live_server.url, "--key", secret],
    )

    async def talk() -> None:
        async with Client(program, mode=mode) as client:
            assert "search_memories" in {tool.name for tool in (await client.list_tools()).tools}
            written = await client.call_tool("write_memory", {"content": "Spoken through a pipe"})
            assert written.structured_content["outcome"] == "created"
            refused = await client.call_tool("write_memory", {"content": ""})
            assert refused.is_error
            with pytest.raises(MCPError, match="The tools are: search_memories"):
                await client.call_tool("forget_everything", {})

    asyncio.run(talk())
    assert [memory.content for memory in Memory.objects.all()] == ["Spoken through a pipe"]


@pytest.mark.parametrize(
    "url, key, told",
    [
        ("http://127.0.0.1:9", "mh_live_x", "No hub answers"),
        ("", "", "Say where"),
        ("http://127.0.0.1:9", "mh_live_é", "a character that no key has"),
    ],
)
def test_no_hub_is_one_sentence(tmp_path, url: str, key: str, told: str):
    """Not running, not said where, a key nobody has: what to do, in one line, and a code that is not 0."""
    command = [sys.executable, str(BASE_DIR / "manage.py"), "mcp", "--url", url]
    environment = {"MEMORYHUB_DATA": str(tmp_path), "PATH": "/usr/bin:/bin", "SECRET_KEY": "x" * 40}
    environment["MEMORYHUB_KEY"] = key
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    assert ended.returncode != 0
    assert told in ended.stderr and len(ended.stderr.splitlines()) == 1

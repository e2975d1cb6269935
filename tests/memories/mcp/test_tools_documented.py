"""docs/agents.md, as somebody follows it: each line about MCP reaches the hub, and the table says what is so."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from typing import Any

import httpx2
import pytest
from django.core.management import call_command

from banks.access import Access
from memories.mcp.tools import TOOLS
from tests.contracts.tree import ROOT

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
TO_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def line(beginning: str) -> str:
    """The line of the page that begins so."""
    (found,) = re.findall(rf"^{re.escape(beginning)}.*$", PAGE, re.MULTILINE)
    return str(found)


def test_the_table_of_tools():
    """Each with the scope that lists it."""
    rows = dict(re.findall(r"^\| `(\w+)` \| `([\w:]+)` \|", PAGE, re.MULTILINE))
    assert rows == {name: tool.scope.value for name, tool in TOOLS.items()}


@pytest.mark.django_db(transaction=True)
def test_a_key_for_an_agent_and_the_line_for_a_client(
    access: Access, live_server: Any, capsys: pytest.CaptureFixture[str]
):
    """The key that the page makes, in the header that the page gives, lists the agent's tools."""
    _, _, _, command, *options = shlex.split(line("uv run manage.py create_key").replace("Main", access.vault.name))
    call_command(command, *options)
    key = capsys.readouterr().out.split()[-1]
    words = shlex.split(line("claude mcp add").replace("$MEMORYHUB_KEY", key))
    address, header = words[words.index("memoryhub") + 1], words[words.index("--header") + 1]
    name, _, value = header.partition(": ")
    answer = httpx2.post(
        address.replace("http://localhost:8000", live_server.url),
        json=TO_LIST,
        headers={name: value, "Accept": "application/json"},
        timeout=120,
    )
    listed = {tool["name"] for tool in answer.raise_for_status().json()["result"]["tools"]}
    assert {"search_memories", "read_memories", "write_memory", "update_memory", "archive_memory"} <= listed


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_program_that_is_started(live_server: Any, secret: str):
    """From any folder, with one bank when it is named."""
    command = line("uv run --directory").replace("http://localhost:8000", live_server.url)
    command = command.replace("path/to/memoryhub", str(ROOT))
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_banks", "arguments": {}}}
    for option, banks in (("", 7), (" --bank work", 1)):
        ended = subprocess.run(
            ["bash", "-ec", command + option],
            input=json.dumps(asked) + "\n",
            env={**os.environ, "MEMORYHUB_KEY": secret},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert len(json.loads(ended.stdout)["result"]["structuredContent"]["banks"]) == banks, ended.stderr

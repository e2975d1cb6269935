"""The protocol as programs speak it: both eras, refusals, one bank by its address."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from banks.access import KeyScope
from memories.mcp.tools import TOOLS
from memories.rules.tokens import estimate_tokens
from tests.conftest import ApiClient
from tests.memories.mcp.conftest import post


def test_the_tool_list_is_affordable(api: ApiClient):
    """DESIGN §9: seven tools in at most 2,500 tokens, each with annotations and an object to fill in."""
    listed = post(api, "tools/list", {}).json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == set(TOOLS)
    assert estimate_tokens(json.dumps(listed)) <= 2_500
    for tool in listed:
        assert tool["inputSchema"]["type"] == "object"
        assert tool["annotations"]["openWorldHint"] is False
        assert tool["annotations"]["readOnlyHint"] is not TOOLS[tool["name"]].writes


def test_a_key_sees_what_it_may_call(api_with):
    """A key for reading lists reading tools, and is told which scope a writing one needs."""
    reader: ApiClient = api_with(KeyScope.MEMORIES_READ)
    listed = post(reader, "tools/list", {}).json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == {name for name, tool in TOOLS.items() if not tool.writes}
    refused = post(reader, "tools/call", {"name": "write_memory", "arguments": {"content": "x"}}).json()["result"]
    assert refused["isError"]
    assert refused["structuredContent"]["code"] == "missing_scope"
    assert "memories:write" in refused["content"][0]["text"]


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer nonsense", "Basic abc"])
def test_nobody_without_a_key(db: None, header: str):
    """401 with a problem, before anything of the protocol is read."""
    answer = post(ApiClient(""), "tools/list", {}, Authorization=header)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["code"] in {"unauthenticated", "invalid_key"}


def test_pages_of_other_sites_are_refused(api: ApiClient):
    """A name that was made to resolve to this machine does not open the door; the hub's own pages may."""
    assert post(api, "tools/list", {}, Origin="http://evil.example").json()["code"] == "foreign_origin"
    assert post(api, "tools/list", {}, Origin="http://testserver").status_code == 200


@pytest.mark.parametrize("method", ["get", "delete", "put"])
def test_only_post(api: ApiClient, method: str):
    """There is no stream to listen to and no session to end."""
    answer = getattr(api, method)("/mcp")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"7", b'{"jsonrpc":"2.0"}', b"\xff", b'{"id":1}' * 3])
def test_what_is_no_message(api: ApiClient, body: bytes):
    """Never a 500."""
    answer = api.generic("POST", "/mcp", body, content_type="application/json", headers={"Accept": "application/json"})
    assert 400 <= answer.status_code < 500


def test_an_unknown_tool_is_an_error_of_the_protocol(api: ApiClient):
    """-32602, naming the tools there are."""
    error = post(api, "tools/call", {"name": "forget_everything", "arguments": {}}).json()["error"]
    assert error["code"] == -32602
    assert "search_memories" in error["message"]


def test_one_bank_by_its_address(api: ApiClient, call):
    """What is written there lands there, and nothing else is seen from there."""
    call("write_memory", {"content": "The deploy runs on Fridays", "bank": "Work"})
    call("write_memory", {"content": "Blood type is A positive"}, "/mcp/banks/health")
    seen = call("search_memories", {"query": "deploy blood type"}, "/mcp/banks/health")["structuredContent"]["results"]
    assert [(hit["bank"], hit["content"]) for hit in seen] == [("Health", "Blood type is A positive")]
    named = call("write_memory", {"content": "elsewhere", "bank": "Work"}, "/mcp/banks/health")
    assert named["structuredContent"]["code"] == "unknown_bank"
    assert post(api, "tools/list", {}, "/mcp/banks/nowhere").status_code == 404


def test_a_foreign_bank_is_an_unknown_one(api_with):
    """A key of one bank reaches no other by the address."""
    limited: ApiClient = api_with(banks=["Work"])
    assert post(limited, "tools/list", {}, "/mcp/banks/health").status_code == 404


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_official_client(live_server: Any, secret: str, mode: Any):
    """Initialize or discover, list, write, find, read, be refused: in both eras of the protocol."""

    async def talk() -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{live_server.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
                written = await client.call_tool("write_memory", {"content": "The API uses PostgreSQL 18"})
                found = await client.call_tool("search_memories", {"query": "which database", "topK": 3})
                hits = found.structured_content["results"]
                assert [hit["id"] for hit in hits] == [written.structured_content["id"]]
                read = await client.call_tool("read_memories", {"ids": [hits[0]["id"]]})
                assert read.structured_content["results"][0]["content"] == "The API uses PostgreSQL 18"
                refused = await client.call_tool("update_memory", {"memoryId": "nonsense", "importance": 9})
                assert refused.is_error and "/importance" in str(refused.content)

    asyncio.run(talk())

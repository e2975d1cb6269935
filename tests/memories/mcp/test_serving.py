"""The protocol as programs speak it: both eras, refusals, one bank by its address."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from banks.access import Access, KeyScope
from banks.services.keys import list_keys, revoke_key
from memories.mcp.serving import VERSION
from memories.mcp.tools import TOOLS
from memories.rules.tokens import estimate_tokens
from tests.conftest import ApiClient
from tests.memories.mcp.conftest import post

LATEST = "2026-07-28"
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
}
SEEDS_ARGUMENTS: dict[str, dict[str, tuple[str, object]]] = {
    "write_memory": {
        "content": ("string", None),
        "memoryType": ("string", "fact"),
        "importance": ("integer", 3),
        "confidence": ("integer", 3),
        "entities": ("array", None),
        "vaultId": ("string", None),
        "dedup": ("boolean", None),
        "externalWriteId": ("string", None),
        "supersededById": ("string", None),
    },
    "search_memories": {
        "query": ("string", None),
        "topK": ("integer", 10),
        "threshold": ("number", None),
        "memoryType": ("string", None),
        "compact": ("boolean", False),
        "includeArchived": ("boolean", False),
    },
    "read_memories": {"ids": ("array", None)},
    "update_memory": {"memoryId": ("string", None), "content": ("string", None), "importance": ("integer", None)},
    "archive_memory": {"memoryId": ("string", None), "archived": ("boolean", True)},
    "cleanup_memories": {"dryRun": ("boolean", True)},
}
"""What is None by default is the vault's to say: whether and how closely to compare."""


def test_the_tool_list_is_affordable(api: ApiClient):
    """DESIGN §9: seven tools in at most 2,500 tokens, each with annotations and an object to fill in."""
    listed = post(api, "tools/list", {}).json()["result"]["tools"]
    assert {tool["name"] for tool in listed} == set(TOOLS)
    assert estimate_tokens(json.dumps(listed)) <= 2_500
    for tool in listed:
        writes = TOOLS[tool["name"]].writes
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert tool["title"] and tool["description"]
        assert tool["annotations"] == {
            "readOnlyHint": not writes,
            "destructiveHint": tool["name"] == "cleanup_memories",
            "idempotentHint": tool["name"] not in {"write_memory", "cleanup_memories"},
            "openWorldHint": False,
        }


def test_the_arguments_of_the_seed(api: ApiClient):
    """API-05..10: every name the seed uses, of its kind, with the default the call has without it."""
    listed = post(api, "tools/list", {}).json()["result"]["tools"]
    takes = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed}
    for tool, arguments in SEEDS_ARGUMENTS.items():
        for name, (kind, default) in arguments.items():
            assert (takes[tool][name]["type"], takes[tool][name].get("default")) == (kind, default), (tool, name)
    required = {tool["name"]: tool["inputSchema"].get("required", []) for tool in listed}
    assert [required[tool] for tool in SEEDS_ARGUMENTS] == [
        ["content"],
        ["query"],
        ["ids"],
        ["memoryId"],
        ["memoryId"],
        [],
    ]


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
    problem = answer.json()
    assert problem["code"] in {"unauthenticated", "invalid_key"}
    assert problem["error"]["message"] == f"{problem['code']}: {problem['detail']}"


def test_a_revoked_key_is_a_wrong_one(api_with, access: Access):
    """At once, and the protocol's error says what to do."""
    limited: ApiClient = api_with(KeyScope.MEMORIES_READ)
    assert post(limited, "ping", {}).status_code == 200
    for key in list_keys(access):
        revoke_key(access, key.pk)
    answer = post(limited, "ping", {})
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_key")
    assert "send `Authorization: Bearer <key>`" in answer.json()["error"]["message"]


def test_pages_of_other_sites_are_refused(api: ApiClient):
    """A name that was made to resolve to this machine does not open the door; the hub's own pages may."""
    assert post(api, "tools/list", {}, Origin="http://evil.example").json()["code"] == "foreign_origin"
    assert post(api, "tools/list", {}, Origin="http://testserver").status_code == 200
    for broken in ("http://[bad", "null", "http://testserver]"):
        answer = post(api, "tools/list", {}, Origin=broken)
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin"), broken


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
    unknown = post(api, "tools/list", {}, "/mcp/banks/nowhere")
    assert unknown.status_code == 404
    assert "/mcp/banks/health" in unknown.json()["error"]["message"]


def test_a_foreign_bank_is_an_unknown_one(api_with):
    """A key of one bank reaches no other by the address."""
    limited: ApiClient = api_with(banks=["Work"])
    assert post(limited, "tools/list", {}, "/mcp/banks/health").status_code == 404


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_handshake_is_answered_in_its_version(api: ApiClient, version: str):
    """And one that is not known, in the newest that is."""
    hello = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    told = post(api, "initialize", {**hello, "protocolVersion": version}).json()["result"]
    assert told["protocolVersion"] == version
    assert told["serverInfo"] == {"name": "memoryhub", "title": "MemoryHub", "version": VERSION} or version < "2025-06"
    other = post(api, "initialize", {**hello, "protocolVersion": "1999-01-01"}).json()["result"]
    assert other["protocolVersion"] == HANDSHAKE_PROTOCOL_VERSIONS[-1]


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled"])
def test_notifications_are_taken(api: ApiClient, method: str):
    """202 and nothing: there is no session, and a call that was cancelled is over when its answer is."""
    message = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 1} if "cancel" in method else {}}
    answer = api.post("/mcp", message, content_type="application/json", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "no/such", "subscriptions/listen"])
def test_what_the_hub_does_not_do(api: ApiClient, method: str):
    """-32601 in both eras; nobody waits for a stream that never says anything."""
    assert post(api, method, {}).json()["error"]["code"] == -32601
    modern = post(api, method, MODERN | {"notifications": {}}, **{"MCP-Protocol-Version": LATEST, "Mcp-Method": method})
    assert modern.json()["error"]["code"] == -32601


def test_ping_and_a_slash_too_many(api: ApiClient):
    """An empty result; the address may end in a slash, for clients follow no redirect with a body."""
    assert post(api, "ping", {}).json()["result"] == {}
    assert post(api, "ping", {}, "/mcp/").json()["result"] == {}


def test_a_body_may_be_as_large_as_the_hub_takes(api: ApiClient):
    """The library's own limit is lower and says so as a page; ours is told as a mistake in the argument."""
    call = {"name": "write_memory", "arguments": {"content": "x" * (4 * 1024 * 1024 + 1)}}
    assert "100000 characters" in str(post(api, "tools/call", call).json()["result"]["content"])
    call["arguments"] = {"content": "x" * (5 * 1024 * 1024)}
    assert post(api, "tools/call", call).status_code == 413


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

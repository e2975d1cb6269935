"""What is no message of the protocol is told in words its author can act on, and is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memories.mcp.mistakes import NO_ID, NO_MESSAGE
from tests.conftest import ApiClient
from tests.memories.mcp.conftest import post


def sent(api: ApiClient, body: str) -> Any:
    return api.post(
        "/mcp",
        body,
        content_type="application/json",
        headers={"Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"},
    )


@pytest.mark.parametrize("number", ["null", "1.5", "true", '{"a": 1}', "[]", "NaN"])
def test_an_id_that_is_none_is_refused(api: ApiClient, number: str):
    """The library takes it for a notification, and its caller would wait for ever."""
    answer = sent(api, f'{{"jsonrpc": "2.0", "id": {number}, "method": "ping"}}')
    assert answer.status_code == 400
    assert answer.json() == {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": NO_ID}}


@pytest.mark.parametrize(
    "body",
    ["[]", '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', "5", "null", '""', "{}", '{"id": 1}',
     '{"jsonrpc": "2.0", "id": 1, "method": 5}', '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}',
     '{"jsonrpc": "1.0", "id": 1, "method": "ping"}'],
)  # fmt: skip
def test_what_is_no_message(api: ApiClient, body: str):
    answer = sent(api, body)
    assert answer.status_code == 400
    assert answer.json()["error"] == {"code": -32600, "message": NO_MESSAGE}
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "params", "place"),
    [
        ("tools/call", {"name": "list_banks", "arguments": "none"}, "arguments: "),
        ("tools/call", {"arguments": {}}, "name: "),
        ("tools/call", {"name": 5}, "name: "),
        ("tools/list", {"cursor": 5}, "cursor: "),
        ("initialize", {"protocolVersion": 5, "capabilities": {}}, "protocolVersion: "),
        ("initialize", {}, "clientInfo: "),
    ],
)
def test_which_params_are_wrong(api: ApiClient, method: str, params: dict[str, Any], place: str):
    answer = post(api, method, params).json()
    assert answer["error"]["code"] == -32602 and isinstance(answer["id"], int)
    assert place in answer["error"]["message"]


def test_what_is_right_is_left_alone(api: ApiClient):
    """A notification, what a client answers, and a tool that says itself what is wrong."""
    assert sent(api, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})).status_code == 202
    assert sent(api, json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}})).status_code == 202
    unknown = post(api, "tools/call", {"name": "nothing", "arguments": {}}).json()
    assert unknown["error"]["message"].startswith("There is no tool")

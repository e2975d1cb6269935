"""Calls of the agents' door, as a client of either protocol era sends them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import ApiClient

type Call = Callable[..., dict[str, Any]]

_numbers = itertools.count(1)


def post(client: ApiClient, method: str, params: dict[str, Any], path: str = "/mcp", **headers: str) -> Any:
    """The HTTP response to one message."""
    message = {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": params}
    return client.post(
        path,
        message,
        content_type="application/json",
        headers={"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", **headers},
    )


@pytest.fixture
def call(api: ApiClient) -> Call:
    """Call a tool; its result as the client gets it."""

    def call(tool: str, arguments: dict[str, Any] | None = None, path: str = "/mcp") -> dict[str, Any]:
        answer = post(api, "tools/call", {"name": tool, "arguments": arguments or {}}, path)
        assert answer.status_code == 200, answer.content
        result: dict[str, Any] = answer.json()["result"]
        return result

    return call

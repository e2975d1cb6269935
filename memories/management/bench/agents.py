"""``bench mcp``: a search over the Model Context Protocol beside the same search over REST, asked in turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.measure import Bench, Numbers, latencies
from memories.management.bench.searching import TOP_K

MODERN = "2026-07-28"
#: How the two eras of the protocol say which one it is: beside the message, and since 2026 in it as well.
ERAS: Mapping[str, tuple[Mapping[str, str], Mapping[str, Any]]] = {
    "mcp.handshake": ({"MCP-Protocol-Version": "2025-11-25"}, {}),
    "mcp.stateless": (
        {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "search_memories"},
        {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        },
    ),
}


def measure_mcp(bench: Bench) -> Numbers:
    """Round trips of one question over each door, one after the other, so that a busy moment meets them all."""
    taken: dict[str, list[float]] = {"mcp.rest": [], **{era: [] for era in ERAS}}
    with bench.client() as client:
        for text in bench.questions(bench.requests, "mcp"):
            asked = {"query": text, "top_k": TOP_K}
            taken["mcp.rest"].append(client.post("/api/v1/memories/search", asked).seconds)
            for era, (headers, params) in ERAS.items():
                taken[era].append(_call(client, {**params, "name": "search_memories", "arguments": asked}, headers))
    numbers: Numbers = {}
    for door, seconds in taken.items():
        numbers |= latencies(door, seconds)
    slowest = max(numbers[f"{era}.p50_ms"] for era in ERAS)
    return numbers | {"mcp.times_rest": slowest / numbers["mcp.rest.p50_ms"]}


def _call(client: HubClient, params: Mapping[str, Any], headers: Mapping[str, str]) -> float:
    """Seconds of one call of a tool. Raises BenchFailed when it was not answered with a result."""
    answer = client.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
    told = answer.json()
    if told.get("result", {}).get("isError") is not False:
        raise BenchFailed(f"/mcp answered {str(told)[:500]}")
    return answer.seconds

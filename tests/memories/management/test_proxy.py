"""MCP over stdin and stdout: a message goes to the hub as it is, and what goes wrong on the way is told."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from threading import Thread
from typing import Any

import pytest

from memories.management.proxy import HubRefused, Proxy
from memories.models import Memory

NOBODY = "http://127.0.0.1:9"


def told(proxy: Proxy, *messages: Any) -> list[dict[str, Any]]:
    """What a client reads, by the id it asked with."""
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    out = StringIO()
    proxy.serve([line + b"\n" for line in lines], out)
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    return sorted(answers, key=lambda answer: str(answer["id"]))


def asked(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_a_client_says_and_hears(live_server: Any, secret: str):
    """A handshake, a notification, a call, a tool that is not there, and what is no message."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with Proxy.to(f"{live_server.url}/", secret) as proxy:
        proxy.check()
        (shaken,) = told(proxy, asked(1, "initialize", **hello))
        assert shaken["result"]["protocolVersion"] == "2025-06-18"
        assert told(proxy, {"jsonrpc": "2.0", "method": "notifications/initialized"}, b"") == []
        written, unknown, broken = told(
            proxy,
            asked(2, "tools/call", name="write_memory", arguments={"content": "Für alle: 東京"}),
            asked(3, "tools/call", name="prüfen", arguments={}),
            b"\xff{",
        )
    assert written["result"]["structuredContent"]["outcome"] == "created"
    assert [memory.content for memory in Memory.objects.all()] == ["Für alle: 東京"]
    assert unknown["error"]["code"] == -32602
    assert (broken["id"], broken["error"]["code"]) == (None, -32700)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_that_names_its_version_in_each_message(live_server: Any, secret: str):
    """2026-07-28: no handshake; the hub wants the method and the tool's name beside the body."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with Proxy.to(live_server.url, secret, "work") as proxy:
        listed, called, unknown = told(
            proxy,
            asked(1, "tools/list", _meta=meta),
            asked(2, "tools/call", _meta=meta, name="list_banks", arguments={}),
            asked(3, "tools/call", _meta=meta, name="prüfen", arguments={}),
        )
    assert len(listed["result"]["tools"]) == 7
    assert [bank["name"] for bank in called["result"]["structuredContent"]["banks"]] == ["Work"]
    assert "There is no tool" in unknown["error"]["message"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_hub_that_was_away(live_server: Any, secret: str):
    """A call says so as its result, which a model reads; the next one reaches the hub that is back."""
    call = asked(1, "tools/call", name="list_banks", arguments={})
    with Proxy.to(NOBODY, secret) as proxy:
        (away,) = told(proxy, call)
        assert away["result"]["isError"] and "Is it running?" in away["result"]["content"][0]["text"]
        (other,) = told(proxy, asked(2, "tools/list"))
        assert "did not answer" in other["error"]["message"]
        proxy.address = proxy.address.replace(NOBODY, live_server.url)
        (back,) = told(proxy, call)
    assert not back["result"]["isError"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_nothing_would_work(live_server: Any, secret: str):
    """Said before anything is asked: a wrong key, an unknown bank, another program, nobody, no address."""
    for to, reason in (
        ((live_server.url, "mh_live_wrong"), "invalid_key"),
        ((live_server.url, secret, "nowhere"), "/mcp/banks/work"),
        ((f"{live_server.url}/static", secret), "."),
        ((NOBODY, secret), "refused"),
        (("localhost:8000", secret), "."),
        (("http://[", secret), "."),
    ):
        with pytest.raises(HubRefused, match=reason), Proxy.to(*to) as proxy:
            proxy.check()


def test_a_key_for_this_machine_never_goes_to_a_proxy(monkeypatch: pytest.MonkeyPatch):
    """The environment names a proxy; the hub beside us is asked itself, in clear as it is."""
    heard: list[str | None] = []

    class Beside(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.path)
            self.send_response(502)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silent."""

    with HTTPServer(("127.0.0.1", 0), Beside) as proxy_server:
        Thread(target=proxy_server.serve_forever, daemon=True).start()
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy_server.server_port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with Proxy.to(NOBODY, "mh_live_x") as proxy, pytest.raises(HubRefused, match="refused"):
            proxy.check()
        assert heard == []
        with Proxy.to("http://hub.example", "mh_live_x") as proxy, pytest.raises(HubRefused):
            proxy.check()
        assert heard == ["http://hub.example/mcp"]
        proxy_server.shutdown()


@pytest.mark.parametrize("bank", ["..", ".", "../../api/v1/keys", "a b", "work/"])
def test_what_is_no_slug_is_not_the_whole_vault(bank: str):
    """A path would be normalised on the way, and lead elsewhere than to that bank."""
    with pytest.raises(HubRefused, match="no slug"):
        Proxy.to(NOBODY, "mh_live_x", bank)

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


DEEP = b"[" * 50_000 + b"]" * 50_000
HALF = "\\ud800"
MODERN = '"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}'


HOSTILE: list[tuple[bytes, object, int]] = [
    (DEEP, None, -32700),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": ' + DEEP + b"}", None, -32700),
    (f'{{"jsonrpc": "2.0", "id": 4, "method": "{HALF}"}}'.encode(), 4, -32700),
    (f'{{"jsonrpc": "2.0", "id": "{HALF}", "method": "ping"}}'.encode(), "\ud800", -32700),
    (f'{{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {{{MODERN}, "name": "{HALF}"}}}}'.encode(),
     4, -32602),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "initialize"}', 4, -32602),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {"protocolVersion": {}}}', 4, -32602),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": []}', 4, -32600),
    (b'{"jsonrpc": "2.0", "id": 4, "method": ["initialize"]}', 4, -32600),
    (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": [4], "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": {"x": ' + b"9" * 5000 + b"}}", None, -32700),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_whatever_a_line_holds_is_answered(live_server: Any, secret: str):
    """As an error of the protocol, under the id it came with where that is one; the next line is served."""
    with Proxy.to(live_server.url, secret) as proxy:
        for line, number, code in HOSTILE:
            (refused,) = told(proxy, line)
            assert (refused["jsonrpc"], refused["id"], refused["error"]["code"]) == ("2.0", number, code), line[:99]
        (fine,) = told(proxy, asked(5, "ping"))
    assert (fine["id"], fine["result"]) == (5, {})


class Odd(BaseHTTPRequestHandler):
    """Answers what no hub would."""

    body = b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.mark.parametrize(
    "body",
    [DEEP, b'{"jsonrpc": "2.0", "result": 5}', b'{"jsonrpc": "2.0", "result": {"protocolVersion": {"\xc3\xa9": 1}}}',
     b'{"jsonrpc": "2.0", "error": "no"}', b'{"detail": [1]}', b"\xff"],
)  # fmt: skip
def test_whatever_answers_is_passed_on(body: bytes):
    """Another program at that address, or a hub to come."""
    handler = type("Handler", (Odd,), {"body": body})
    with HTTPServer(("127.0.0.1", 0), handler) as server, Proxy.to(f"http://127.0.0.1:{server.server_port}", "k") as to:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            for number, method in ((1, "initialize"), (2, "tools/list")):
                (answer,) = told(to, asked(number, method))
                assert answer["id"] == number and {"result", "error"} & set(answer)
        finally:
            server.shutdown()


@pytest.mark.parametrize("key", ["mh_live_é", "mh_live_a b", "mh_live_\udce9", "mh_live_a\nX-Evil: 1"])
def test_a_key_that_cannot_be_sent(key: str):
    """Said at once, and not quoted."""
    with pytest.raises(HubRefused, match="copy the whole of it") as refused:
        Proxy.to(NOBODY, key)
    assert key not in str(refused.value)


@pytest.mark.parametrize("url", [f"http://{'a' * 300}/", "http://hub..example/"])
def test_a_host_nobody_could_look_up(url: str):
    with pytest.raises(HubRefused, match="no name of a host"):
        Proxy.to(url, "mh_live_x")

"""Services on a real socket that drip, flood, hang up, lead astray and come back."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memoryhub.client import (
    NO_RETRIES,
    AsyncMemoryHub,
    HubTimeout,
    HubUnreachable,
    Invalid,
    MemoryHub,
    MemoryHubError,
    NotFound,
    Retries,
    UnexpectedAnswer,
)
from memoryhub.client.calls import vault
from tests.memoryhub.client.conftest import FOUND, Scripted, Wire, fine, told

QUICK = Retries(first=0.001, longest=0.002)
WHO = b'{"vault": {}, "scopes": []}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

type Wires = Callable[[Callable[[socket.socket, bytes], None]], Wire]


def whole(connection: socket.socket, head: bytes) -> None:
    connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(WHO) + WHO)


def dripping(before: bytes, rest: bytes) -> Callable[[socket.socket, bytes], None]:
    """A byte every now and then, each well before the client would give up on a silent connection."""

    def speak(connection: socket.socket, head: bytes) -> None:
        connection.sendall(before)
        for byte in rest:
            time.sleep(0.05)
            connection.sendall(bytes([byte]))

    return speak


async def _awaited(url: str, **options: Any) -> None:
    async with AsyncMemoryHub(url, "key", **options) as hub:
        await hub.whoami()


def _waited(url: str, **options: Any) -> None:
    with MemoryHub(url, "key", **options) as hub:
        hub.whoami()


def _both(url: str, **options: Any) -> list[Callable[[], None]]:
    return [lambda: _waited(url, **options), lambda: asyncio.run(_awaited(url, **options))]


@pytest.mark.parametrize(
    "speak",
    [
        dripping(HEAD, b"X-Filler: " + b"x" * 200),
        dripping(HEAD + b"Content-Length: 200\r\n\r\n", b" " * 200),
        dripping(b"", HEAD),
    ],
    ids=["headers", "body", "status"],
)
def test_an_answer_that_drips_is_over_in_time(wire: Wires, speak: Any):
    """The timeout is for the whole try, whatever comes in between."""
    server = wire(speak)
    for use in _both(server.url, timeout=0.3, retries=NO_RETRIES):
        began = time.monotonic()
        with pytest.raises(HubTimeout) as late:
            use()
        assert time.monotonic() - began < 8  # dripping to the end would take ten
        assert late.value.arrived and server.url in str(late.value)


def test_an_endless_answer_is_cut_off(wire: Wires):
    def speak(connection: socket.socket, head: bytes) -> None:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")

    call = replace(vault.whoami(), most=50_000)
    with MemoryHub(wire(speak).url, "key") as hub, pytest.raises(UnexpectedAnswer, match="more than 50,000 bytes"):
        hub.send(call)

    async def use() -> None:
        async with AsyncMemoryHub(wire(speak).url, "key") as hub:
            with pytest.raises(UnexpectedAnswer, match="more than 50,000 bytes"):
                await hub.send(call)

    asyncio.run(use())


def test_an_answer_that_swells_is_cut_off(service: Callable[..., Scripted]):
    """What counts is what it is unpacked."""
    packed = gzip.compress(b" " * 5_000_000)
    script = service((200, {"Content-Encoding": "gzip"}, packed))
    call = replace(vault.whoami(), most=1_000_000)
    with MemoryHub(script.url, "key") as hub, pytest.raises(UnexpectedAnswer, match="more than"):
        hub.send(call)
    assert len(packed) < 10_000


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda hub: hub.get_memory("\ud800"), "is no id"),
        (lambda hub: hub.get_memory("x" * 100_000), "cannot be said in an address"),
        (lambda hub: hub.list_memories(q="\ud800"), "cannot be said in an address"),
    ],
    ids=["half an id", "a long id", "half a word"],
)
def test_what_no_address_can_say(service: Callable[..., Scripted], use: Callable[[MemoryHub], object], said: str):
    """Half a character, a book in place of an id: an error of ours, and nothing is sent."""
    script = service(fine())
    with MemoryHub(script.url, "key") as hub, pytest.raises(Invalid, match=said):
        use(hub)
    assert script.asked == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_no_answer(service: Callable[..., Scripted], number: str):
    """pydantic reads these from JSON, which has none of them; a comparison with one is always false."""
    script = service((200, {}, f'{{"results": [], "took_ms": {number}}}'.encode()))
    with MemoryHub(script.url, "key") as hub, pytest.raises(UnexpectedAnswer, match="took_ms"):
        hub.search_memories("tea")


def test_a_connection_reset_in_the_middle_is_tried_again(wire: Wires):
    """A write too: it carries the Idempotency-Key it had."""
    body = b'{"results": [], "took_ms": 1.0}'

    def speak(connection: socket.socket, head: bytes) -> None:
        if len(server.heads) == 1:
            connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        else:
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    server = wire(speak)
    with MemoryHub(server.url, "key", retries=QUICK) as hub:
        assert hub.search_memories("tea").results == []
    keys = [line for head in server.heads for line in head.splitlines() if line.lower().startswith(b"idempotency-key")]
    assert len(keys) == 2 and len(set(keys)) == 1


def test_a_connection_the_hub_gave_up_meanwhile_is_replaced(wire: Wires):
    """It was kept open, and closed by the other side without a word."""

    def speak(connection: socket.socket, head: bytes) -> None:
        whole(connection, head)
        connection.shutdown(socket.SHUT_RDWR)

    with MemoryHub(wire(speak).url, "key", retries=QUICK) as hub:
        for _ in range(3):
            assert hub.whoami().scopes == []


def test_a_redirect_is_told_and_not_followed(service: Callable[..., Scripted]):
    """The key is sent nowhere else; where it leads is said, without what an address may hide."""
    other = service(fine(vault={}, scopes=[]))
    there = other.url.replace("http://", "http://user:word@")
    script = service((307, {"Location": f"{there}/api/v1/whoami"}, b""))
    with MemoryHub(script.url, "key") as hub, pytest.raises(UnexpectedAnswer) as led:
        hub.whoami()
    assert other.url in str(led.value) and "word" not in str(led.value)
    assert other.asked == [] and len(script.asked) == 1


def test_a_deletion_whose_answer_was_lost_is_done(service: Callable[..., Scripted]):
    """The second try finds nothing any more; without a first one that is a mistake."""
    with MemoryHub(service((0, {}, b""), told(404)).url, "key", retries=QUICK) as hub:
        assert hub.delete_webhook("one") is None
    with MemoryHub(service(told(404)).url, "key", retries=QUICK) as hub, pytest.raises(NotFound):
        hub.delete_webhook("one")
    script = service((0, {}, b""), told(404))
    with MemoryHub(script.url, "key", retries=QUICK) as hub, pytest.raises(NotFound) as gone:
        hub.erase_memory("one")
    assert "may have done it" in gone.value.__notes__[0]


@pytest.mark.parametrize("text", ["\ud800", object()], ids=["half a character", "no text"])
def test_what_json_cannot_say_is_refused_here(service: Callable[..., Scripted], text: Any):
    script = service(FOUND)
    with MemoryHub(script.url, "key") as hub, pytest.raises(Invalid) as refused:
        hub.search_memories(text)
    assert refused.value.code == "no_json" and script.asked == []


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_no_id_leads_to_another_path(service: Callable[..., Scripted], name: str):
    script = service(fine())
    with MemoryHub(script.url, "key") as hub, pytest.raises(Invalid, match="no id"):
        hub.erase_memory(name)
    assert script.asked == []


def test_waiting_for_events_takes_longer_than_the_timeout(wire: Wires):
    """The hub was asked to hold its answer back."""
    body = b'{"items": [], "next": "1", "more": false}'

    def speak(connection: socket.socket, head: bytes) -> None:
        time.sleep(0.3)
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    with MemoryHub(wire(speak).url, "key", timeout=0.1, retries=NO_RETRIES) as hub:
        assert hub.list_events(wait=5).items == []
        with pytest.raises(HubTimeout):
            hub.list_events()


def test_the_key_is_in_no_error(service: Callable[..., Scripted], wire: Wires):
    """Nor in what the errors of the library below would tell."""
    secret = "mh_live_nobody_must_see_this"
    hangs_up = wire(lambda connection, head: connection.close())
    for url in (service(told(500)).url, hangs_up.url, "http://127.0.0.1:1"):
        with MemoryHub(url, secret, retries=NO_RETRIES) as hub, pytest.raises(MemoryHubError) as failed:
            hub.whoami()
        seen: BaseException | None = failed.value
        while seen is not None:
            assert secret not in f"{seen!r} {seen} {vars(seen)!r}"
            seen = seen.__context__
        assert secret not in repr(hub) and secret not in repr(vars(hub))


def test_nobody_listens_says_what_to_do():
    with MemoryHub("http://127.0.0.1:1", "key", retries=NO_RETRIES) as hub, pytest.raises(HubUnreachable) as nobody:
        hub.whoami()
    assert "uv run manage.py up" in str(nobody.value) and "http://127.0.0.1:1" in str(nobody.value)
    assert nobody.value.__suppress_context__, "a page of the library's own traceback helps nobody"

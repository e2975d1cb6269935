"""MCP over stdin and stdout, for clients that start a program: every message goes to a running hub and back as it is.

Nothing is known here of the tools or of what a message means, so this program needs neither the database nor the keys,
starts at once, speaks every version the hub speaks, and goes on when the hub was away for a while.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any, Self
from urllib.parse import quote

import httpx2

from memoryhub.lib.authorities import authorities
from memoryhub.lib.proxies import proxy_for
from memoryhub.lib.sendable import is_host, is_key

type Message = dict[str, Any]

SECONDS = 60
AT_ONCE = 8
CONNECTION_CLOSED = -32000
INTERNAL_ERROR = -32603
_SLUG = re.compile(r"[\w-]+", re.ASCII)
_VERSION = "io.modelcontextprotocol/protocolVersion"


class HubRefused(Exception):
    """The hub cannot be reached, or does not let the caller in; the message says which."""


@dataclass
class Proxy:
    """Between the lines of one client and one address of the hub; used with ``with``."""

    http: httpx2.Client
    address: str
    _handshake: str = ""
    _writing: Lock = field(default_factory=Lock)

    @classmethod
    def to(cls, url: str, key: str, bank: str = "") -> Proxy:
        """To the hub at ``url`` as the caller behind ``key``; with ``bank``, a slug, to that bank alone.

        A hub on this machine is asked without a proxy: the key must not leave it. Raises HubRefused for what is no
        slug, no key or no address; it never quotes the key.
        """
        if not is_key(key):
            raise HubRefused("The key has a character that no key has; copy the whole of it.")
        if bank and not _SLUG.fullmatch(bank):  # `..` would be normalised away, and mean the whole vault
            raise HubRefused(f"{bank!r} is no slug of a bank: letters, digits, - and _.")
        headers = {"Authorization": f"Bearer {key}", "Accept": "application/json", "Content-Type": "application/json"}
        place = f"/mcp/banks/{quote(bank, safe='')}" if bank else "/mcp"
        try:
            there = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise HubRefused(str(error)) from error
        if not is_host(there.host):
            raise HubRefused(f"{there.host!r} is no name of a host.")
        http = httpx2.Client(
            headers=headers,
            timeout=SECONDS,
            verify=authorities(trust_env=False),
            proxy=proxy_for(there.scheme, there.host),
            trust_env=False,
        )
        return cls(http, url.rstrip("/") + place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def check(self) -> None:
        """Raises HubRefused when nothing would work."""
        try:
            answer = self._ask({"jsonrpc": "2.0", "id": 0, "method": "ping"})
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise HubRefused(str(error)) from error
        if answer is None or "error" in answer:
            raise HubRefused(_reason(answer))

    def serve(self, lines: Iterable[bytes], out: IO[str]) -> None:
        """A line in, its answer out, several at once, until there are no more lines; no line ends the others."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for line in lines:
                if line.strip():
                    pool.submit(self._pass_on, line, out).add_done_callback(Future.result)  # tells stderr of a mistake

    def _pass_on(self, line: bytes, out: IO[str]) -> None:
        message = _read(line)
        try:
            answer = self._ask(message, line)
        except httpx2.HTTPError as error:
            answer = _unreached(message, error)
        except Exception:
            self._tell(message, _error(INTERNAL_ERROR, "The program between you and the hub failed."), out)
            raise
        if answer is not None:
            self._tell(message, answer, out)

    def _tell(self, message: Any, answer: Message, out: IO[str]) -> None:
        """Nothing to who only notified."""
        if _method_of(message) is not None and "id" not in message:
            return
        with self._writing:
            out.write(json.dumps({**answer, "id": _id_of(message)}, separators=(",", ":")) + "\n")
            out.flush()

    def _ask(self, message: Any, line: bytes | None = None) -> Message | None:
        """What the hub answers; None to a notification."""
        body = json.dumps(message).encode() if line is None else line
        answer = self.http.post(self.address, content=body, headers=self._headers(message))
        if answer.status_code == httpx2.codes.ACCEPTED:
            return None
        told = _told(answer)
        result = told.get("result")
        if _method_of(message) == "initialize" and isinstance(result, dict):
            self._handshake = str(result.get("protocolVersion", ""))
        return told

    def _headers(self, message: Any) -> dict[str, str]:
        """What the protocol wants said beside the body: the version that was agreed on, or that the message names."""
        if not isinstance(message, dict) or message.get("method") == "initialize":
            return {}
        given = message.get("params")
        params: Message = given if isinstance(given, dict) else {}
        meta = params.get("_meta")
        version = meta.get(_VERSION) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return {"MCP-Protocol-Version": _plain(self._handshake)} if self._handshake else {}
        named = {"MCP-Protocol-Version": version, "Mcp-Method": message.get("method"), "Mcp-Name": params.get("name")}
        return {header: _plain(value) for header, value in named.items() if isinstance(value, str)}


def _read(line: bytes) -> Any:
    """The message in a line; None for what the hub will say is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _method_of(message: Any) -> Any:
    return message.get("method") if isinstance(message, dict) else None


def _id_of(message: Any) -> str | int | None:
    """What an answer is known by: the protocol has words and whole numbers."""
    known = message.get("id") if isinstance(message, dict) else None
    return known if isinstance(known, str | int) and not isinstance(known, bool) else None


def _plain(value: str) -> str:
    """As it is where HTTP can carry it, else as the protocol spells it; of half a character the hub tells the rest."""
    fits = value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?")
    return value if fits else f"=?base64?{b64encode(value.encode(errors='replace')).decode()}?="


def _told(answer: httpx2.Response) -> Message:
    """The message in the answer; a refusal on the way there is made one."""
    told = _read(answer.content)
    if isinstance(told, dict) and "jsonrpc" in told:
        return {name: told[name] for name in ("jsonrpc", "id", "result", "error") if name in told}
    detail = told.get("detail") if isinstance(told, dict) else None
    return _error(CONNECTION_CLOSED, str(detail or f"Something that is no hub answered ({answer.status_code})."))


def _unreached(message: Any, error: httpx2.HTTPError) -> Message:
    """A call of a tool fails as its result, which the model reads; anything else as an error of the protocol."""
    text = f"The hub did not answer ({error}). Is it running? Nothing is known to have changed; try again."
    if _method_of(message) != "tools/call":
        return _error(CONNECTION_CLOSED, text)
    content = [{"type": "text", "text": text}]
    return {"jsonrpc": "2.0", "result": {"resultType": "complete", "content": content, "isError": True}}


def _reason(answer: Message | None) -> str:
    error = answer.get("error") if answer else None
    return str(error.get("message")) if isinstance(error, dict) else "It answers nothing a hub would."


def _error(code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": text}}

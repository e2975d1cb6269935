"""Where a hub is and with which key it is called: from what was said, else from the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import httpx2

from memoryhub.client.errors import NotConfigured, Problem
from memoryhub.lib.authorities import authorities
from memoryhub.lib.deadlines import timed
from memoryhub.lib.proxies import proxy_for
from memoryhub.lib.sendable import is_host, is_key

_PASTED = ("/api/v1", "/mcp")
_FROM_WHERE = "`uv run manage.py up` prints both when it starts; the page Keys makes more keys."


@dataclass(frozen=True, slots=True)
class Address:
    """``url`` without a closing slash; the key never shows."""

    url: str
    key: str = field(repr=False)

    def open_client(self) -> httpx2.Client:
        """Connections to be called from threads; they keep ``within``'s deadlines."""
        transport = timed(httpx2.HTTPTransport(verify=authorities(), proxy=self._proxy()))
        return httpx2.Client(
            base_url=f"{self.url}/api/v1", headers=self._headers(), transport=transport, trust_env=False
        )

    def open_async_client(self) -> httpx2.AsyncClient:
        """Connections to be awaited, in one event loop."""
        transport = httpx2.AsyncHTTPTransport(verify=authorities(), proxy=self._proxy())
        return httpx2.AsyncClient(
            base_url=f"{self.url}/api/v1", headers=self._headers(), transport=transport, trust_env=False
        )

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}", "User-Agent": "memoryhub-client"}

    def _proxy(self) -> str | None:
        url = httpx2.URL(self.url)
        return proxy_for(url.scheme, url.host)


def find_address(url: str | None, key: str | None) -> Address:
    """What was given, else MEMORYHUB_URL and MEMORYHUB_KEY. Raises NotConfigured, which never quotes the key."""
    at = (url or os.environ.get("MEMORYHUB_URL") or "").strip().rstrip("/")
    secret = (key or os.environ.get("MEMORYHUB_KEY") or "").strip()
    missing = [name for name, value in (("MEMORYHUB_URL", at), ("MEMORYHUB_KEY", secret)) if not value]
    if missing:
        said = f"Where the hub is was not said: set {' and '.join(missing)}, or give url and key. {_FROM_WHERE}"
        raise _refused(said)
    if not is_key(secret):
        raise _refused("The key has a character that no key has; copy the whole of it, without dots in its place.")
    for ending in _PASTED:
        at = at.removesuffix(ending)
    _check(at)
    return Address(at, secret)


def _check(at: str) -> None:
    try:
        url = httpx2.URL(at)
    except httpx2.InvalidURL as error:
        raise _refused(f"{at!r} is no address: {error}.") from None
    if url.userinfo:
        raise _refused("The address holds a user name; a hub knows keys only, given as MEMORYHUB_KEY or key.")
    if url.scheme not in ("http", "https") or not is_host(url.host):
        raise _refused(f"{at!r} is no address: it begins with http:// or https://, such as http://localhost:8000.")
    if url.query or url.fragment:
        raise _refused(f"{at!r} is no address of a hub: leave out what follows ? or #.")


def _refused(detail: str) -> NotConfigured:
    return NotConfigured(Problem(None, "not_configured", detail))

"""One keep-alive HTTP connection, thin, so that little of what is measured is the client."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import urlsplit

from memoryhub.lib.errors import HubError

TIMEOUT = 120.0


class BenchFailed(HubError):
    """The hub answered something a measurement must not be built on."""

    code = "bench_failed"


@dataclass(frozen=True)
class Answer:
    """What came back and how long it took, in seconds, from the first byte sent to the last byte read."""

    status: int
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)


class HubClient:
    """Speaks to one hub with one key over one connection; used with ``with``, not shared between threads."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        connection = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = connection(parts.netloc, timeout=TIMEOUT)
        json_type = "application/json"
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": json_type, "Accept": json_type}

    def get(self, path: str) -> Answer:
        """Raises BenchFailed unless the answer is 2xx."""
        return self._call("GET", path, None, {})

    def post(self, path: str, body: Any, headers: Mapping[str, str] = MappingProxyType({})) -> Answer:
        """The body is encoded before the clock starts. Raises BenchFailed unless the answer is 2xx."""
        return self._call("POST", path, json.dumps(body).encode(), headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def _call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        headers = {**self._headers, **headers}
        started = time.perf_counter()
        try:
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            content = response.read()
        except OSError as error:
            raise BenchFailed(f"{method} {path}: the hub does not answer ({error}).") from error
        seconds = time.perf_counter() - started
        if not 200 <= response.status < 300:
            raise BenchFailed(f"{method} {path} answered {response.status}: {content[:500].decode(errors='replace')}")
        return Answer(response.status, content, seconds)

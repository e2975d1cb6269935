"""Send a body somewhere once, within limits: guarded like every other call, and nothing that goes wrong is raised."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from memoryhub.lib.net import AddressRefused, AnswerTooLarge, AnswerTooSlow, Limits, open_client

#: The other side has ten seconds in all; of its answer only the beginning is read.
LIMITS = Limits(connect=3.0, read=8.0, total=10.0, answer=64 * 1024)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status and the beginning of the body, or the code of why nothing did."""

    status: int | None
    error: str
    body: str
    took_ms: float

    @property
    def is_fine(self) -> bool:
        """Whether the receiver took it."""
        return self.status is not None and 200 <= self.status < 300


class Poster:
    """Calls one endpoint, from any number of threads. Making a client costs more than most calls, so it is kept."""

    def __init__(self, *, allow_private: bool) -> None:
        self.allow_private = allow_private
        self._client = open_client(allow_private=allow_private, limits=LIMITS)

    def close(self) -> None:
        """Drop the connections."""
        self._client.close()

    def post(self, url: str, body: bytes, headers: Mapping[str, str], keep: int) -> Answer:
        """POST once; redirects are answers like any other. ``keep``: so many characters of the answer are kept."""
        began = time.monotonic()
        status, error, kept = None, "", b""
        try:
            with self._client.stream("POST", url, content=body, headers=dict(headers)) as response:
                status = response.status_code
                for piece in response.iter_raw():
                    kept += piece
                    if len(kept) >= 4 * keep:
                        break
        except (AddressRefused, AnswerTooLarge, AnswerTooSlow) as refused:
            # Too long or too slow an answer after a status is an answer: the receiver has the event.
            error = "" if status is not None and not isinstance(refused, AddressRefused) else refused.code
        except httpx2.TimeoutException:
            error = "" if status is not None else AnswerTooSlow.code
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError):
            error = "" if status is not None else "unreachable"
        text = kept.decode("utf-8", "replace").replace("\0", "\ufffd")[:keep]
        return Answer(status, error, text, (time.monotonic() - began) * 1_000)

"""One call of the hub as data: what is sent, and how its answer is read. Sends nothing itself."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from memoryhub.client.errors import Invalid, Problem

#: No answer of a hub is longer, but an export.
ANSWER_MAX = 64 * 2**20
_NO_SEGMENTS = frozenset({"", ".", ".."})


@dataclass(frozen=True, slots=True)
class Call[Answered]:
    """``method`` and ``path`` below ``/api/v1``, and ``reads``, which makes an answer of the response's body.

    What is not ``repeatable`` is sent again only where it surely did not arrive. An answer has at most ``most`` bytes;
    one that ``is_long`` may take as long as it comes.
    """

    method: str
    path: str
    reads: Callable[[bytes], Answered]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    most: int = ANSWER_MAX
    is_long: bool = False

    @property
    def waits(self) -> float:
        """Seconds the hub was asked to hold its answer back."""
        return float(self.query.get("wait") or 0)

    def after(self, cursor: str, name: str = "cursor") -> Call[Answered]:
        """The same call for the page that begins at ``cursor``."""
        return replace(self, query={**self.query, name: cursor})

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The query as it goes into the address: nothing for None, a parameter for each item of a list."""
        return [
            (name, _word(one))
            for name, value in self.query.items()
            for one in (value if isinstance(value, list | tuple) else [value])
            if one is not None
        ]


def get[Answered: BaseModel](path: str, answer: type[Answered], **query: Any) -> Call[Answered]:
    """A question to the hub."""
    return Call("GET", path, answer.model_validate_json, query=query)


def post[Answered: BaseModel](
    path: str, answer: type[Answered], body: Mapping[str, Any] | None = None
) -> Call[Answered]:
    """An order to the hub; None in ``body`` is sent as null, so leave out what was not said."""
    return Call("POST", path, answer.model_validate_json, body=body)


def patch[Answered: BaseModel](path: str, answer: type[Answered], body: Mapping[str, Any]) -> Call[Answered]:
    """A change."""
    return Call("PATCH", path, answer.model_validate_json, body=body)


def nothing(_body: bytes) -> None:
    """How an answer without a body is read."""


def said(**values: Any) -> dict[str, Any]:
    """What the caller gave, without what is None."""
    return {name: value for name, value in values.items() if value is not None}


def segment(value: object) -> str:
    """An id or a name as one step of a path. Raises Invalid for what would be another path, or is no text."""
    if str(value) in _NO_SEGMENTS:
        raise Invalid(Problem(None, "no_id", f"{str(value)!r} is no id."))
    try:
        return quote(str(value), safe="")
    except UnicodeEncodeError:
        raise Invalid(Problem(None, "no_id", f"{str(value)!r} is no id.")) from None


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, dt.date) else str(value)

"""What a route says of itself beside its types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryhub.lib.errors import HubError

#: Where the document finds it in what ninja writes of an operation.
TOLD = "x-told"

#: Headers a route may read or send, by their names in ``parts``.
IF_MATCH = "IfMatch"
IF_NONE_MATCH = "IfNoneMatch"
ETAG = "ETag"
LOCATION = "Location"
LINK = "Link"


@dataclass(frozen=True, slots=True)
class Told:
    """``scope`` is what a key needs, None for any key; ``fails`` lists refusals that are this route's own."""

    scope: str | None = None
    fails: tuple[type[HubError], ...] = ()
    headers: frozenset[str] = frozenset()
    #: Media type → example of answers that are no JSON.
    also: Mapping[str, str] = field(default_factory=dict)


def told(
    summary: str,
    scope: str | None,
    *fails: type[HubError],
    headers: Sequence[str] = (),
    also: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Arguments for a route of ninja: ``@router.get("/banks", response=BankList, **told("List banks", READ))``.

    What follows from a route's form is not said again: 401, 422, 429 and 503 of every route, 404 of one with an id,
    400, 413 and 415 of one with a body, 412 of one that takes If-Match.
    """
    return {
        "summary": summary,
        "openapi_extra": {TOLD: Told(scope, fails, frozenset(headers), also or {})},
    }

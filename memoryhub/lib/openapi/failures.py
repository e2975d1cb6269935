"""Refusals as OpenAPI describes them: each error class is a code, a status, a sentence and an example."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from memoryhub.lib.errors import HubError, Kind
from memoryhub.lib.problems import MEDIA_TYPE, STATUS_OF, problem

PROBLEM_SCHEMAS: dict[str, Any] = {
    "Problem": {
        "type": "object",
        "description": "What went wrong, as problem details (RFC 9457). Branch on `code`, show `detail`.",
        "required": ["type", "title", "status", "detail", "instance", "code", "request_id", "errors"],
        "properties": {
            "type": {"type": "string", "format": "uri", "description": "The code as a URN."},
            "title": {"type": "string", "description": "The phrase of the status."},
            "status": {"type": "integer", "description": "The status of the answer."},
            "detail": {"type": "string", "description": "What is wrong and what to do next, for people."},
            "instance": {"type": "string", "description": "The path that was asked."},
            "code": {"type": "string", "description": "Stable; branch on this."},
            "request_id": {"type": "string", "description": "Names the request in the hub's log."},
            "errors": {
                "type": "array",
                "description": "The mistakes one by one, where the input has any.",
                "items": {"$ref": "#/components/schemas/FieldProblem"},
            },
        },
        "additionalProperties": True,
    },
    "FieldProblem": {
        "type": "object",
        "description": "One mistake in one place of the input.",
        "required": ["pointer", "code", "detail"],
        "properties": {
            "pointer": {
                "type": "string",
                "description": "A JSON pointer into the body, or `/` and a parameter's name.",
            },
            "code": {"type": "string", "description": "Stable; branch on this."},
            "detail": {"type": "string", "description": "What is wrong with it."},
        },
    },
}

#: What a problem says beside its code, in the examples.
_MORE: Mapping[str, Mapping[str, Any]] = {
    "missing_scope": {"missing_scopes": ["memories:write"]},
    "stale_version": {"current_version": 8},
    "rate_limited": {"policy": "writes", "retry_after": 21},
    "selection_changed": {"count": 118},
    "invalid": {
        "errors": [
            {
                "pointer": "/importance",
                "code": "less_than_equal",
                "detail": "Input should be less than or equal to 5",
            }
        ]
    },
}
_REQUEST_ID = "5f6d0c1e9a3b4c7d"


def status_of_kind(error: type[HubError]) -> int:
    """The status a class of errors is answered with."""
    return int(STATUS_OF[error.kind])


def by_status(errors: Iterable[type[HubError]]) -> dict[int, list[type[HubError]]]:
    """The classes by status, each once, in the order given."""
    found: dict[int, list[type[HubError]]] = {}
    for error in dict.fromkeys(errors):
        found.setdefault(status_of_kind(error), []).append(error)
    return dict(sorted(found.items()))


def problem_examples(errors: Iterable[type[HubError]]) -> dict[str, Any]:
    """The example of each code, as a component."""
    return {
        error.code: {"summary": HTTPStatus(status_of_kind(error)).phrase, "value": _example(error)} for error in errors
    }


def _example(error: type[HubError]) -> dict[str, Any]:
    example = problem(_made(error), instance="/api/v1/…", request_id=_REQUEST_ID)
    return {**example, **_MORE.get(error.code, {})}


def _made(error: type[HubError]) -> HubError:
    """One with the sentence of its class; some classes are otherwise made with what happened."""
    made = error.__new__(error)
    HubError.__init__(made)
    return made


def answer_of(errors: Iterable[type[HubError]]) -> dict[str, Any]:
    """The response of one status: its codes, each with its sentence and its example."""
    listed = list(errors)
    headers = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
    if listed[0].kind in (Kind.RATE_LIMITED, Kind.UNAVAILABLE):
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    if listed[0].kind is Kind.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = {"$ref": "#/components/headers/WWW-Authenticate"}
    return {
        "description": "\n".join(f"* `{error.code}`: {_made(error).message}" for error in listed),
        "headers": headers,
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {error.code: {"$ref": f"#/components/examples/{error.code}"} for error in listed},
            }
        },
    }

"""What the hub answers, held against what its OpenAPI document says of the operation."""

from __future__ import annotations

import functools
import re
from typing import Any, cast

import jsonschema_rs
from django.urls import Resolver404, resolve

from memoryhub.api import api

type Json = dict[str, Any]

BASE = "/api/v1"
#: Statuses of no operation: a path or method that is none, and mistakes of ours.
NOT_DESCRIBED = frozenset({405, 500})


@functools.cache
def document() -> Json:
    """The document as it is served."""
    return cast(Json, api.get_openapi_schema(path_prefix=f"{BASE}/"))


@functools.cache
def operations() -> dict[str, Json]:
    """Operation id → operation."""
    return {operation["operationId"]: operation for path in document()["paths"].values() for operation in path.values()}


@functools.cache
def validator(reference: str) -> jsonschema_rs.Draft202012Validator:
    """Of one component of the document."""
    schema = {"$ref": reference, "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def operation_at(method: str, path: str) -> Json | None:
    """The operation a request is for, if there is one."""
    try:
        route = resolve(path.partition("?")[0]).route
    except Resolver404:
        return None
    template = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", f"/{route}")
    found: Json | None = document()["paths"].get(template, {}).get(method.lower())
    return found


def parameters_of(template: str, path: str) -> dict[str, str]:
    """What stands in a path in the places of a template's names."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(template))
    match = re.fullmatch(pattern, path)
    assert match is not None, path
    return match.groupdict()


def resolved(answer: Json) -> Json:
    """A response, also where it is only referred to."""
    reference: str | None = answer.get("$ref")
    return document()["components"]["responses"][reference.rsplit("/", 1)[-1]] if reference else answer


def codes_of(operation: Json, status: int) -> set[str]:
    """The codes its refusals of a status may have."""
    answer = resolved(operation["responses"][str(status)])
    return set(answer["content"]["application/problem+json"]["examples"])


def check(answer: Any, method: str, path: str) -> None:
    """Fails where an answer of the REST API is not what the document says of it."""
    if not path.startswith(f"{BASE}/") or method == "HEAD" or answer.status_code in NOT_DESCRIBED:
        return
    operation = operation_at(method, path)
    if operation is None:
        return
    told = f"{operation['operationId']} {answer.status_code}"
    described = operation["responses"].get(str(answer.status_code))
    assert described is not None, f"{told} is not described: {answer.content!r}"
    described = resolved(described)
    for name, header in described.get("headers", {}).items():
        required = document()["components"]["headers"][header["$ref"].rsplit("/", 1)[-1]]["required"]
        assert not required or name in answer.headers, f"{told} has no {name}"
    if answer.streaming or not answer.content:
        return
    media_type = answer.headers["Content-Type"].partition(";")[0]
    assert media_type in described.get("content", {}), f"{told} is not described as {media_type}"
    schema = described["content"][media_type]["schema"]
    if "$ref" in schema:
        validator(schema["$ref"]).validate(_json(answer))
    if answer.status_code >= 400:
        code = _json(answer)["code"]
        assert code in codes_of(operation, answer.status_code), f"{told} is not described with the code {code}"


def _json(answer: Any) -> Any:
    return answer.json()  # the test client adds it

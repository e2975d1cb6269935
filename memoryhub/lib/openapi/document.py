"""The finished OpenAPI document: what ninja and pydantic wrote, put into the words and names of the hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from memoryhub.lib.errors import HubError
from memoryhub.lib.openapi import parts
from memoryhub.lib.openapi.examples import REFERENCE, Examples
from memoryhub.lib.openapi.failures import PROBLEM_SCHEMAS, answer_of, by_status, problem_examples
from memoryhub.lib.openapi.glossary import describe_fields, described_parameter
from memoryhub.lib.openapi.naming import tidy
from memoryhub.lib.openapi.told import ETAG, IF_MATCH, LINK, LOCATION, TOLD, Told
from memoryhub.lib.problems import MEDIA_TYPE

type Json = dict[str, Any]
type Errors = tuple[type[HubError], ...]

#: Docstrings name the requirement they meet, such as (MOD-26); callers have no use for that.
_SOURCE = re.compile(r"\s*\([A-Z]{3}-\d[^)]*\)")
_WITHOUT_SHAPE = {200: "Done.", 204: "Done; there is nothing to say.", 304: "You have the present version already."}
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Ordinary:
    """What follows from the form of a route: the refusals nobody has to name."""

    always: Errors
    of_scope: Errors
    of_body: Errors
    of_id: Errors
    of_cursor: Errors
    of_version: Errors
    of_replay: Errors
    #: Operations whose answer is kept for a repetition under the same Idempotency-Key.
    replayed: frozenset[str]


def finished(document: Json, ordinary: Ordinary) -> Json:
    """The document with headers, refusals, scopes, examples and named vocabularies."""
    schemas = document["components"]["schemas"]
    schemas.update(PROBLEM_SCHEMAS)
    _describe_bodies(document)
    errors: list[type[HubError]] = []
    for path, operation in _operations(document):
        errors += _finish(path, operation, ordinary)
    tidy(document)
    describe_fields(schemas)
    _add_examples(document, errors)
    _share_refusals(document)
    document["components"]["parameters"] = parts.PARAMETERS
    document["components"]["headers"] = parts.HEADERS
    document["components"] = dict(sorted(document["components"].items()))
    _drop_sources(document)
    return document


def _operations(document: Json) -> Iterator[tuple[str, Json]]:
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield path, methods[method]


def _finish(path: str, operation: Json, ordinary: Ordinary) -> Errors:
    """One operation; its refusals."""
    told: Told = operation.pop(TOLD, Told())
    is_replayed = operation["operationId"] in ordinary.replayed
    _say_scope(operation, told)
    operation["parameters"] = [described_parameter(one) for one in operation["parameters"]]
    operation["parameters"] += [
        parts.reference("parameters", name) for name in sorted(told.headers & parts.PARAMETER_NAMES)
    ]
    if is_replayed:
        operation["parameters"].append(parts.reference("parameters", parts.IDEMPOTENCY_KEY))
    answers = {str(status): answer for status, answer in operation["responses"].items()}
    for status, answer in answers.items():
        _finish_answer(status, answer, told, is_replayed)
    errors = _errors_of(path, operation, told, ordinary)
    refusals = {str(status): answer_of(classes) for status, classes in by_status(errors).items()}
    operation["responses"] = dict(sorted({**answers, **refusals}.items()))
    for name in ("parameters", "requestBody", "responses", "security"):  # after what it is called and does
        if name in operation:
            operation[name] = operation.pop(name)
    return errors


def _describe_bodies(document: Json) -> None:
    """A body is what its shape says of itself: not the phrase of a status, nor a default of all its defaults."""
    schemas = document["components"]["schemas"]
    for _, operation in _operations(document):
        for media in operation.get("requestBody", {}).get("content", {}).values():
            if len(choices := media["schema"].get("allOf", ())) == 1:
                media["schema"] = choices[0]
        for status, answer in operation["responses"].items():
            answer["description"] = _WITHOUT_SHAPE.get(int(status), answer["description"])
            for media in answer.get("content", {}).values():
                for name in _shapes_of(media["schema"]):
                    answer["description"] = schemas[name].get("description", answer["description"])


def _share_refusals(document: Json) -> None:
    """Refusals that several routes have alike are said once, under the phrase of their status and what is special."""
    found: dict[str, list[tuple[Json, str]]] = {}
    for _, operation in _operations(document):
        for status, answer in operation["responses"].items():
            if status >= "400":
                found.setdefault(json.dumps(answer), []).append((operation["responses"], status))
    shared: Json = {}
    for written, places in sorted(found.items(), key=lambda item: -len(item[1])):
        if len(places) == 1:
            continue
        answer, status = json.loads(written), places[0][1]
        name = HTTPStatus(int(status)).phrase.replace(" ", "")
        if name in shared:
            codes = answer["content"][MEDIA_TYPE]["examples"]
            common = shared[name]["content"][MEDIA_TYPE]["examples"]
            name = "-".join([name, *(code for code in codes if code not in common)])
        if shared.setdefault(name, answer) is answer:
            for responses, at in places:
                responses[at] = parts.reference("responses", name)
    document["components"]["responses"] = dict(sorted(shared.items()))


def _say_scope(operation: Json, told: Told) -> None:
    """Roles of a security requirement are scopes here; people read them in the description."""
    needed = [] if told.scope is None else [str(told.scope)]
    operation["security"] = [dict.fromkeys(one, needed) for one in operation["security"]]
    if needed:
        operation["description"] = f"{operation['description'].strip()}\n\nNeeds the scope `{told.scope}`."


def _finish_answer(status: str, answer: Json, told: Told, is_replayed: bool) -> None:
    names = [*parts.ALWAYS]
    names += sorted(told.headers - parts.PARAMETER_NAMES - {LOCATION, LINK})
    is_new = status in {"201", "202"} or ETAG in told.headers  # a write says where its memory is, also an old one
    names += [LOCATION] if LOCATION in told.headers and is_new else []
    names += [LINK] if LINK in told.headers and status == "200" else []
    names += ["Idempotency-Replayed"] if is_replayed else []
    answer["headers"] = {name: parts.reference("headers", name) for name in names}
    for media_type, example in told.also.items() if status == "200" else ():
        answer.setdefault("content", {})[media_type] = {"schema": {"type": "string"}, "example": example}


def _errors_of(path: str, operation: Json, told: Told, ordinary: Ordinary) -> Errors:
    names = {one.get("name") for one in operation["parameters"]}
    rules: Iterable[tuple[bool, Errors]] = (
        (True, ordinary.always),
        (told.scope is not None, ordinary.of_scope),
        ("requestBody" in operation, ordinary.of_body),
        ("{" in path, ordinary.of_id),
        ("cursor" in names, ordinary.of_cursor),
        (IF_MATCH in told.headers, ordinary.of_version),
        (operation["operationId"] in ordinary.replayed, ordinary.of_replay),
    )
    return (*(error for holds, errors in rules if holds for error in errors), *told.fails)


def _add_examples(document: Json, errors: Iterable[type[HubError]]) -> None:
    """Examples stand among the components, and every body refers to its own."""
    schemas = document["components"]["schemas"]
    examples, found = Examples(schemas), {}
    for _, operation in _operations(document):
        for body in (operation.get("requestBody"), *operation["responses"].values()):
            for media in (body or {}).get("content", {}).values():
                for name in _shapes_of(media["schema"]):
                    if name != "Problem":
                        found[name] = {"value": examples.of(name)}
                        media.setdefault("examples", {})[name] = parts.reference("examples", name)
    for schema in schemas.values():
        schema.pop("examples", None)
    document["components"]["examples"] = dict(sorted({**found, **problem_examples(errors)}.items()))


def _shapes_of(schema: Mapping[str, Any]) -> list[str]:
    choices = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return [one["$ref"].removeprefix(REFERENCE) for one in choices if "$ref" in one]


def _drop_sources(node: Any) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            node["description"] = _SOURCE.sub("", node["description"]).replace("``", "`")
        node = list(node.values())
    for item in node if isinstance(node, list) else ():
        _drop_sources(item)

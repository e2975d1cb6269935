"""The OpenAPI document is one that people like to read and generators make good clients of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from memoryhub import __version__
from memoryhub.api import api
from tests import described
from tests.contracts.tree import ROOT
from tests.memoryhub.routes import ROUTES

OPERATIONS = described.operations()
COMPONENTS: dict[str, Any] = described.document()["components"]
#: Answers whose shape is text, and whose example stands beside it.
TEXT = {"text/markdown", "application/x-ndjson"}


def nodes(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the document with its place."""
    if isinstance(node, dict):
        yield path, node
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from nodes(value, f"{path}/{key}")


def bodies(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Place, media type and description of what goes in and what comes out."""
    parts = {"request": operation.get("requestBody", {}), **operation["responses"]}
    for place, part in parts.items():
        for media_type, media in described.resolved(part).get("content", {}).items():
            yield place, media_type, media


def example(reference: dict[str, Any]) -> Any:
    return COMPONENTS["examples"][reference["$ref"].rsplit("/", 1)[-1]]["value"]


def test_operations_are_the_verbs():
    assert set(OPERATIONS) == set(ROUTES)


def test_the_version_is_the_program_s():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert described.document()["info"]["version"] == __version__ == project["version"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_what_it_does(name: str):
    """In words of its own: a short title, and one to three sentences besides the scope."""
    operation = OPERATIONS[name]
    summary, description = operation["summary"], operation["description"]
    assert 2 <= len(summary.split()) <= 10 and not summary.endswith(".")
    assert summary != name.replace("_", " ").title()
    said = description.partition("\n\nNeeds the scope")[0]
    assert 1 <= len(re.findall(r"[.;:](?:\s|$)", said)) <= 7 and said.endswith("."), said
    assert "``" not in description and not re.search(r"\([A-Z]{3}-\d", description)
    assert len(operation["tags"]) == 1
    for parameter in operation["parameters"]:
        assert "$ref" in parameter or parameter["description"], parameter["name"]


def test_summaries_and_tags_are_told_apart():
    summaries = [operation["summary"] for operation in OPERATIONS.values()]
    assert len(set(summaries)) == len(summaries)
    tags = {tag["name"]: tag["description"] for tag in described.document()["tags"]}
    assert set(tags) == {tag for operation in OPERATIONS.values() for tag in operation["tags"]}
    assert all(tags.values())


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_which_scope_it_needs(name: str):
    scope = ROUTES[name].scope
    roles = [] if scope is None else [scope.value]
    assert OPERATIONS[name]["security"] == [{"BearerKey": roles}, {"HeaderKey": roles}]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_body_has_an_example_that_is_one(name: str):
    for place, media_type, media in bodies(OPERATIONS[name]):
        shown = [example(reference) for reference in media.get("examples", {}).values()]
        if media_type in TEXT:
            assert isinstance(media["example"], str)
            continue
        assert shown, f"{name} {place} shows no example"
        schema = {**media["schema"], "components": COMPONENTS}
        for value in shown:
            jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(value)
        if place == "request":
            assert all(shown), f"{name} shows an empty body"


@pytest.mark.parametrize("name", OPERATIONS)
def test_refusals_are_problems_of_their_status(name: str):
    for status, media_type, media in bodies(OPERATIONS[name]):
        if status.isdigit() and int(status) >= 400:
            assert media_type == "application/problem+json"
            for code, reference in media["examples"].items():
                told = example(reference)
                assert (told["status"], told["code"]) == (int(status), code)
    assert {"401", "422", "429", "503"} <= set(OPERATIONS[name]["responses"])


def test_vocabularies_have_one_name_each():
    """A word list is a component that everything refers to, so that a client has one type for it."""
    lists = [
        (path, tuple(node["enum"])) for path, node in nodes(described.document()) if isinstance(node.get("enum"), list)
    ]
    assert [path for path, _ in lists if not re.fullmatch(r"/components/schemas/\w+", path)] == []
    assert len({words for _, words in lists}) == len(lists)
    assert all(COMPONENTS["schemas"][path.rsplit("/", 1)[-1]].get("description") for path, _ in lists)


def test_nothing_is_left_over_or_missing():
    references = {node["$ref"] for _, node in nodes(described.document()) if isinstance(node.get("$ref"), str)}
    defined = {
        f"#/components/{kind}/{name}" for kind in COMPONENTS if kind != "securitySchemes" for name in COMPONENTS[kind]
    }
    assert references == defined


def test_every_schema_is_a_schema():
    for name, schema in COMPONENTS["schemas"].items():
        jsonschema_rs.meta.validate({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"})
        assert schema.get("description"), name


def test_a_body_of_changes_has_no_defaults():
    """A client that was generated sends defaults, and would set what nobody named."""
    for name, schema in COMPONENTS["schemas"].items():
        if name.endswith("Changes"):
            assert [field for field, said in schema["properties"].items() if "default" in said] == [], name


def test_two_shapes_of_one_name_are_found():
    schema = api.get_openapi_schema(path_prefix="api/v1/")
    with pytest.raises(ValueError, match="BankOut"):
        schema.add_schema_definitions({"BankOut": {"type": "string"}})
        schema.add_schema_definitions({"BankOut": {"type": "integer"}})

"""The verbs are the hub's own: names, paths and parameters are compared with its OpenAPI, inputs with its schemas."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any, get_type_hints, is_typeddict

import pytest

from memories.rules import drafts, filters, messages
from memories.rules.bulk import BulkChange
from memories.rules.cleanupwishes import PlanChoice
from memoryhub.client import fields
from memoryhub.client.methods import Methods
from memoryhub.client.request import Call
from memoryhub.client.verbs import Each, Followed, Verb
from tests.contracts.tree import ROOT

#: The service's own verb for an option of an operation.
WITHIN_ANOTHER = {"erase_memory": "delete_memory"}


def operations() -> dict[str, tuple[str, str, set[str]]]:
    """Verb → method, path with one mark for each of its parts, names of the query's parameters."""
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    shared = document["components"].get("parameters", {})

    def query(operation: dict[str, Any]) -> set[str]:
        said = [shared[one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in operation["parameters"]]
        return {one["name"] for one in said if one["in"] == "query"}

    return {
        operation["operationId"]: (
            method.upper(),
            re.sub(r"\{\w+\}", "~", path.removeprefix("/api/v1")),
            query({"parameters": [], **operation}),
        )
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def verbs() -> Iterator[tuple[str, Verb[..., Any] | Each[..., Any] | Followed[...]]]:
    return ((name, one) for name, one in vars(Methods).items() if isinstance(one, Verb | Each | Followed))


def sample(verb: Verb[..., Any] | Each[..., Any] | Followed[...]) -> Call[Any]:
    """The call made of a mark for whatever must be said, and a value for each thing that may be."""
    given: dict[str, Any] = {}
    for parameter in inspect.signature(verb.call).parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            given[parameter.name] = ["~"] if "Sequence" in str(parameter.annotation) else "~"
    return verb.call(**given)


@pytest.mark.parametrize(("name", "verb"), [pytest.param(name, verb, id=name) for name, verb in verbs()])
def test_a_verb_is_an_operation(name: str, verb: Verb[..., Any] | Each[..., Any] | Followed[...]):
    """DESIGN §4: one verb, one name, at every door."""
    method, path, query = operations()[WITHIN_ANOTHER.get(verb.call.__name__, verb.call.__name__)]
    call = sample(verb)
    assert (call.method, call.path) == (method, path)
    assert set(call.query) <= query
    assert name == verb.call.__name__ or not isinstance(verb, Verb)
    assert inspect.getdoc(verb)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (fields.MemoryFields, drafts.MemoryDraft),
        (fields.MemoryChanges, drafts.MemoryChanges),
        (fields.MemoryFilters, filters.MemoryFilter),
        (fields.SearchOptions, filters.SearchQuery),
        (fields.ContextOptions, filters.ContextQuery),
        (fields.Turn, messages.MessageDraft),
        (fields.ConversationLabels, messages.ConversationPart),
        (fields.WindowOptions, messages.WindowQuery),
        (fields.BulkOptions, BulkChange),
        (fields.PlanChoice, PlanChoice),
    ],
)
def test_what_may_be_said_is_what_the_hub_knows(said: Any, known: Any):
    """No field is missing in the client, none is invented; the verb's subject is an argument of its own."""
    assert is_typeddict(said)
    subject = {"content", "query", "id", "max_tokens", "messages", "action"}
    page = {"sort", "limit", "cursor", "facets", "compact"}
    assert set(known.model_fields) - set(get_type_hints(said)) <= subject
    assert set(get_type_hints(said)) - set(known.model_fields) <= page

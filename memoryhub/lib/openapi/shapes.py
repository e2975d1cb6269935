"""What a shape says of itself beside its fields: a worked example, and which texts are words of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class Word:
    """Marks a text as a word of a vocabulary: ``Annotated[str, Word(JobState)]`` is a str to mypy, JobState to callers.

    Rows hold plain strings, and answers are not validated; this only describes them.
    """

    vocabulary: type[StrEnum]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The vocabulary's own schema, which OpenAPI refers to by its name."""
        return handler.generate_schema(self.vocabulary)


class Unparsed:
    """Marks what is taken apart by hand: any value passes here, and it is described as one of these models."""

    def __init__(self, *models: type[BaseModel]) -> None:
        self.models = models

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """A reference to the model, or a choice of several."""
        # As an item of a list, because pydantic writes out in full what it is asked for directly.
        lists = [core_schema.list_schema(model.__pydantic_core_schema__) for model in self.models]
        described = [handler(one)["items"] for one in lists]
        return described[0] if len(described) == 1 else {"anyOf": described}


def shown(example: Mapping[str, Any]) -> ConfigDict:
    """A worked example of a shape, as plain JSON. Of what it leaves out, the required fields are filled in plainly."""
    return ConfigDict(json_schema_extra={"examples": [dict(example)]})


def changes_shown(example: Mapping[str, Any]) -> ConfigDict:
    """The same for a body of changes, where a field that is left out stays as it is: it has no default."""

    def describe(schema: dict[str, Any]) -> None:
        for described in schema.get("properties", {}).values():
            described.pop("default", None)
        schema["examples"] = [dict(example)]

    return ConfigDict(json_schema_extra=describe)

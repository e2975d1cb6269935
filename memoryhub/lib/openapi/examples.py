"""Worked examples of every shape, composed of those its parts have."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

REFERENCE = "#/components/schemas/"
_TEXTS = {"date-time": "2026-11-21T10:15:00Z", "date": "2026-11-21"}
_WORDS = re.compile("(?<=[a-z])(?=[A-Z])")


def example_id(name: str) -> str:
    """An id that is always the same for a name such as ``memory_id``, and another one for another name."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"01990d5c-8f2e-7{digest[:3]}-b{digest[3:6]}-{digest[6:18]}"


class Examples:
    """The examples of a document's schemas, by name."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._made: dict[str, Any] = {}

    def of(self, name: str) -> Any:
        """The example of a named schema: its own, completed by those of its required fields."""
        if name not in self._made:
            schema = self._schemas[name]
            (own, *_) = schema.get("examples", [None])
            self._made[name] = self._value(schema, name) if own is None else self._completed(schema, own, name)
        return self._made[name]

    def _completed(self, schema: Mapping[str, Any], own: Any, shape: str) -> Any:
        if not isinstance(own, dict):
            return own
        properties = schema.get("properties", {})
        id_name = _WORDS.sub("_", shape).lower() + "_id"
        shown = {}
        for name, field in properties.items():
            if name in own:
                shown[name] = own[name]
            elif name in schema.get("required", ()):
                shown[name] = self._value(field, id_name if name == "id" else name)
        return shown

    def _value(self, schema: Mapping[str, Any], name: str) -> Any:
        if "$ref" in schema:
            return self.of(schema["$ref"].removeprefix(REFERENCE))
        for said in ("default", "const"):
            if said in schema:
                return schema[said]
        if "enum" in schema:
            return schema["enum"][0]
        choices = [*schema.get("allOf", ()), *schema.get("oneOf", ()), *schema.get("anyOf", ())]
        if choices:
            return None if {"type": "null"} in choices else self._value(choices[0], name)
        return self._plain(schema, name)

    def _plain(self, schema: Mapping[str, Any], name: str) -> Any:
        match schema.get("type"):
            case "object":
                return self._completed(schema, {}, name)
            case "array":
                of = schema["items"]
                is_told = of.get("format") == "uuid" or ("$ref" in of and "enum" not in self._at(of["$ref"]))
                return [self._value(of, name.removesuffix("s"))] if is_told else []
            case "string":
                return example_id(name) if schema.get("format") == "uuid" else _TEXTS.get(schema.get("format", ""), "")
            case "integer" | "number":
                return schema.get("minimum", 0)
            case "boolean":
                return False
        return None

    def _at(self, reference: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._schemas[reference.removeprefix(REFERENCE)]
        return found

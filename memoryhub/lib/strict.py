"""The strict base of everything that comes in from outside.

Refuses unknown fields, NaN and infinity, NUL and lone surrogates, booleans or fractions as integers, and nesting
deeper than eight; accepts camelCase for any field name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from memoryhub.lib.errors import FieldError, Invalid

MAX_DEPTH = 8
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_ITEMS = re.compile(" item(s?)( after validation)?")
_OBJECT = "must be a JSON object"
_PLAINER = {
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dict_type": _OBJECT,
    "extra_forbidden": "is not known here; leave it out, or correct its name",
    "timezone_aware": "must be an ISO 8601 date and time such as 2026-11-21T10:00:00Z",
}
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def snake_case(name: str) -> str:
    """``externalWriteId`` → ``external_write_id``."""
    return _CAMEL.sub(lambda match: "_" + match.group(1), name).lower() if not name.islower() else name


def refuse_unstorable(value: Any, depth: int = 0) -> None:
    """Raises PydanticCustomError where PostgreSQL's text or JSON could not hold ``value``."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise PydanticCustomError("unstorable_text", "contains NUL or a lone surrogate; remove it")
    elif isinstance(value, Mapping | list | tuple):
        if depth >= MAX_DEPTH:
            raise PydanticCustomError("too_deep", f"is nested deeper than {MAX_DEPTH} levels; flatten it")
        inner = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        for item in inner:
            refuse_unstorable(item, depth + 1)


def refuse_nothing(value: Any) -> Any:
    """For lists that narrow: one that names nothing would narrow nothing, or leave nothing. None is no limit."""
    if isinstance(value, list | tuple) and not value:
        raise PydanticCustomError("names_nothing", "is empty; leave it out for no limit, or name at least one")
    return value


class StrictModel(BaseModel):
    """A frozen input model.

    ``aliases`` adds names that are not just the camelCase of a field; ``unchecked`` names fields whose parts are
    parsed one by one later.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=False)
    aliases: ClassVar[Mapping[str, str]] = {}
    unchecked: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _canonical_names(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        renamed: dict[str, Any] = {}
        for name, value in data.items():
            key = cls.canonical(name) if isinstance(name, str) else name
            if key in renamed:
                raise PydanticCustomError(
                    "named_twice", "the same field is given under two names: {name}", {"name": key}
                )
            if key not in cls.unchecked:
                refuse_unstorable(value)
            renamed[key] = value
        return renamed

    @classmethod
    def canonical(cls, name: str) -> str:
        """The field a caller's ``name`` means; the name itself when it means none."""
        if name in cls.model_fields:
            return name
        if name in cls.aliases:
            return cls.aliases[name]
        snake = snake_case(name)
        return snake if snake in cls.model_fields else name

    @classmethod
    def parse(cls, data: Any, pointer: str = "") -> Self:
        """The model from plain data. Raises Invalid with a pointer for every mistake (API-17)."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise Invalid(errors=field_errors(error, pointer)) from None


def field_errors(error: ValidationError, pointer: str = "") -> list[FieldError]:
    """Pydantic's findings as pointers, codes and sentences; never echoes the input."""
    return [
        FieldError(
            pointer="".join([pointer, *(f"/{part}" for part in item["loc"])]) or "/",
            code=item["type"],
            detail=sentence_of(item),
        )
        for item in error.errors(include_url=False)
    ]


def sentence_of(item: ErrorDetails) -> str:
    """What a finding of pydantic's says to somebody who knows JSON and not Python.

    It counts "items" where a text went through a validator of ours first; people count characters.
    """
    if item["type"] in _PLAINER:
        return _PLAINER[item["type"]]
    miscounted = item["type"] in {"too_long", "too_short"} and isinstance(item["input"], str)
    return _ITEMS.sub(r" character\1", item["msg"]) if miscounted else item["msg"]

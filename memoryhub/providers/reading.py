"""From a model's text to the shape that was asked for; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from memoryhub.lib.loosejson import NoJson, find_json
from memoryhub.providers.chat import UnreadableAnswer

type Place = tuple[str, int]


def read_answer[T: BaseModel](text: str, schema: type[T]) -> T:
    """The answer as ``schema``. Raises UnreadableAnswer, whose message says what is wrong and quotes nothing (EXT-18).

    A bare array or a single element stands for an object with one list; invalid elements of a list are dropped,
    unless none would be left.
    """
    try:
        data = _wrapped(find_json(text), schema)
    except NoJson as error:
        raise UnreadableAnswer(f"The model's answer cannot be read: {error}.") from None
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        return _without_invalid(data, error, schema)


def _wrapped(data: Any, schema: type[BaseModel]) -> Any:
    lists = [name for name, field in schema.model_fields.items() if get_origin(field.annotation) is list]
    others = [name for name, field in schema.model_fields.items() if field.is_required() and name not in lists]
    if len(lists) != 1 or others:
        return data
    if isinstance(data, list):
        return {lists[0]: data}
    is_element = isinstance(data, dict) and data and not data.keys() & schema.model_fields.keys()
    return {lists[0]: [data]} if is_element else data


def _without_invalid[T: BaseModel](data: Any, error: ValidationError, schema: type[T]) -> T:
    """The model without the list elements that do not fit. Raises UnreadableAnswer when something else is wrong."""
    wrong = {place for item in error.errors(include_url=False, include_input=False) if (place := _element(item["loc"]))}
    if not isinstance(data, dict) or len(wrong) == 0:
        raise _unreadable(error) from None
    kept = {
        name: [each for place, each in enumerate(value) if (name, place) not in wrong]
        if isinstance(value, list)
        else value
        for name, value in data.items()
    }
    if any(data[name] and not kept[name] for name, _ in wrong):
        raise _unreadable(error) from None
    try:
        return schema.model_validate(kept)
    except ValidationError as still:
        raise _unreadable(still) from None


def _element(location: Sequence[int | str]) -> Place | None:
    match location:
        case [str() as name, int() as place, *_]:
            return name, place
        case _:
            return None


def _unreadable(error: ValidationError) -> UnreadableAnswer:
    found = error.errors(include_url=False, include_input=False, include_context=False)[:3]
    places = "; ".join(f"{'/'.join(map(str, item['loc'])) or 'the answer'}: {item['type']}" for item in found)
    return UnreadableAnswer(f"The model's answer does not fit what was asked for ({places}).")

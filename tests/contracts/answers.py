"""What an answer says, wherever in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from django.db import models


def words_in(value: object) -> Iterator[str]:
    """Everything an answer says, however deep."""
    if isinstance(value, models.Model):
        for field in value._meta.concrete_fields:
            yield str(getattr(value, field.attname))
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from words_in(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from words_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from words_in(inner)
    else:
        yield str(value)

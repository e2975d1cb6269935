"""The address of a list is its whole state: what it shows, in which order, from where. Links only change a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import QueryDict


@dataclass(frozen=True, slots=True)
class Address:
    """A path with named values, in the order they were chosen."""

    path: str
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.path}?{urlencode(self.values)}" if self.values else self.path

    def has(self, name: str, value: str) -> bool:
        """Whether it names that value."""
        return (name, value) in self.values

    def first(self, name: str) -> str:
        """The value of ``name``, empty when it has none."""
        return next((value for key, value in self.values if key == name), "")

    def all(self, name: str) -> list[str]:
        """Every value of ``name``."""
        return [value for key, value in self.values if key == name]

    def without(self, *names: str) -> Address:
        """The same without those names."""
        return Address(self.path, tuple(pair for pair in self.values if pair[0] not in names))

    def having(self, **values: str) -> Address:
        """The same with those names set to one value each; an empty value takes the name away."""
        kept = self.without(*values).values
        return Address(self.path, (*kept, *((name, value) for name, value in values.items() if value)))

    def toggled(self, name: str, value: str) -> Address:
        """The same with the value added, or taken away where it was."""
        if self.has(name, value):
            return Address(self.path, tuple(pair for pair in self.values if pair != (name, value)))
        return Address(self.path, (*self.values, (name, value)))


def address_of(path: str, query: QueryDict, known: Iterable[str]) -> Address:
    """The address somebody came to, keeping only names that mean something here and values that say something."""
    allowed = set(known)
    pairs = ((name, value.strip()) for name, values in query.lists() if name in allowed for value in values)
    return Address(path, tuple(dict.fromkeys(pair for pair in pairs if pair[1] and _is_text(pair[1]))))


def _is_text(value: str) -> bool:
    """Whether a database could hold it: no NUL, no lone surrogate."""
    return not any(each == "\0" or "\ud800" <= each <= "\udfff" for each in value)

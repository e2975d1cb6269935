"""Namespaces with places to fill: ``("user", "{user_id}")`` for whoever is being helped (MOD-22…24)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACE = re.compile(r"\{(\w+)\}")
_PARTS_MAX = 4


class NamespaceIncomplete(ValueError):
    """A place of the namespace has no value; give it one, for nothing may fall into a shared namespace by mistake."""


class NamespaceTemplate:
    """1 to 4 parts; called with values it gives the namespace: ``template(user_id="u-1") == ("user", "u-1")``."""

    def __init__(self, parts: str | Sequence[str]) -> None:
        self.parts = (parts,) if isinstance(parts, str) else tuple(parts)
        if not 1 <= len(self.parts) <= _PARTS_MAX or not all(self.parts):
            raise ValueError(f"A namespace has 1 to {_PARTS_MAX} parts, none of them empty.")

    def __call__(self, **values: str | None) -> tuple[str, ...]:
        """The namespace for these values. Raises NamespaceIncomplete naming the place that has none."""
        return tuple(_PLACE.sub(lambda place: _value(place.group(1), values), part) for part in self.parts)

    @property
    def places(self) -> list[str]:
        """What has to be said."""
        return [name for part in self.parts for name in _PLACE.findall(part)]


def _value(name: str, values: dict[str, str | None]) -> str:
    value = values.get(name)
    if not value:
        raise NamespaceIncomplete(f"The namespace needs {name}.")
    return value

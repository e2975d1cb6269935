"""mem0's filters in the hub's words: ids, plain or with an operator, joined by AND, OR and NOT.

By mem0's open-source library 2.2.1. Nothing is passed over: what cannot be asked here is refused, and so is a filter
that names nothing, which would answer about everybody.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memories.rules.querylanguage import PARTS_MAX
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.moments import Moment

#: Their name → ours.
IDS: Mapping[str, str] = {"user_id": "user_id", "agent_id": "agent_id", "run_id": "session_id"}
EVERYBODY = "*"
#: Their name → what the query language calls it.
_FIELDS: Mapping[str, str] = {"user_id": "user", "agent_id": "agent", "run_id": "session"}
_OPPOSITE: Mapping[str, str] = {"eq": "ne", "in": "nin", "ne": "eq", "nin": "in"}
_MOMENT: TypeAdapter[dt.datetime] = TypeAdapter(Moment)
_TICK = dt.timedelta(microseconds=1)
_ASKED = (
    "user_id, agent_id and run_id can be filtered by (eq, ne, in, nin), categories (in, contains) and created_at"
    " (gt, gte, lt, lte); joined by AND, by NOT, and by OR where all of it names the same id"
)


def read_filters(ids: Mapping[str, str], filters: Mapping[str, Any] | None) -> dict[str, Any]:
    """What ``ids`` and ``filters`` ask for together, as arguments of a filter or a search. Raises Invalid."""
    reader = _Reader()
    for name, value in ids.items():
        reader.take(name, value)
    if filters is not None:
        reader.take_all(filters)
    return reader.given()


class _Reader:
    """Collects what must hold; every condition narrows what was there."""

    def __init__(self) -> None:
        self._named: dict[str, list[str]] = {}
        self._said: dict[str, None] = {}
        self._moments: dict[str, dt.datetime] = {}

    def given(self) -> dict[str, Any]:
        if len(self._said) > PARTS_MAX:
            raise _refused("too_many", f"names more than {PARTS_MAX} that are left out, or categories; name fewer")
        q = {"q": " ".join(self._said)} if self._said else {}
        return {**{IDS[name]: values for name, values in self._named.items()}, **self._moments, **q}

    def take_all(self, filters: Mapping[str, Any]) -> None:
        if not filters:
            raise _refused("names_nothing", "names nothing; leave it out for no limit")
        for name, value in filters.items():
            self.take(name, value)

    def take(self, name: str, value: Any) -> None:
        match name:
            case "AND":
                for part in _parts(value):
                    self.take_all(part)
            case "OR":
                self._any_of(_parts(value))
            case "NOT":
                for part in _parts(value):
                    self._none_of(part)
            case "created_at":
                self._created(_operators(value))
            case "categories":
                for operator, told in _operators(value).items():
                    self._categories(operator, told)
            case _:
                for operator, told in _operators(value).items():
                    self._id(name, operator, told)

    def _id(self, name: str, operator: str, told: Any) -> None:
        if name not in IDS or operator not in _OPPOSITE:
            raise _refused("unknown_filter", _ASKED)
        values = _texts(told, is_list=operator in {"in", "nin"})
        if operator in {"ne", "nin"}:
            if EVERYBODY in values:
                raise _refused("nobody", f"{EVERYBODY} names everybody, and nobody is left")
            self._said |= dict.fromkeys(f"-{_FIELDS[name]}:{_quoted(value)}" for value in values)
            return
        if EVERYBODY in values:
            return
        known = self._named.get(name, values)
        self._named[name] = [value for value in dict.fromkeys(values) if value in known]
        if not self._named[name]:
            raise _refused("nobody", f"no {name} is left that all of it names")

    def _any_of(self, parts: Sequence[Mapping[str, Any]]) -> None:
        """One of the same ids; the hub asks for no alternatives of different kinds."""
        names = {name for part in parts for name in part}
        operators = [_operators(part[name]) for part in parts for name in part]
        plain = all(len(each) == 1 and each.keys() <= {"eq", "in"} for each in operators)
        if len(names) != 1 or not names <= IDS.keys() or not plain:
            raise _refused("unknown_filter", _ASKED)
        told = [one for each in operators for key, value in each.items() for one in _texts(value, is_list=key == "in")]
        self._id(names.pop(), "in", told)

    def _none_of(self, part: Mapping[str, Any]) -> None:
        """The opposite of one condition; of several at once there is none here."""
        for name, value in part.items():
            operators = _operators(value)
            if len(part) != 1 or len(operators) != 1 or name not in IDS:
                raise _refused("unknown_filter", _ASKED)
            for operator, told in operators.items():
                self._id(name, _OPPOSITE.get(operator, operator), told)

    def _categories(self, operator: str, told: Any) -> None:
        """Categories are tags. Several fields ``tag:`` mean any of them, so they can stand there once."""
        if operator not in {"in", "contains"} or any(said.startswith("tag:") for said in self._said):
            raise _refused("unknown_filter", _ASKED)
        self._said |= dict.fromkeys(f"tag:{_quoted(one)}" for one in _texts(told, is_list=operator == "in"))

    def _created(self, operators: Mapping[str, Any]) -> None:
        for operator, told in operators.items():
            try:
                moment = _MOMENT.validate_python(told)
            except ValidationError as error:
                raise _refused("moment", error.errors()[0]["msg"]) from None
            if operator in {"gt", "lte"}:
                moment += _TICK
            if operator in {"gt", "gte"}:
                self._moments["created_after"] = max(moment, self._moments.get("created_after", moment))
            elif operator in {"lt", "lte"}:
                self._moments["created_before"] = min(moment, self._moments.get("created_before", moment))
            else:
                raise _refused("unknown_filter", _ASKED)


def _parts(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not value or not all(isinstance(part, dict) and part for part in value):
        raise _refused("names_nothing", "AND, OR and NOT take a list of conditions, none of them empty")
    return value


def _operators(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        return {"eq": value}
    if not value:
        raise _refused("names_nothing", "a condition names nothing")
    return value


def _texts(told: Any, *, is_list: bool) -> list[str]:
    values = told if is_list and isinstance(told, list) else [told]
    texts = [as_text(one) for one in values]
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise _refused("names_nothing", "an id is a text that is not empty, and a list of them names at least one")
    return [text.strip() for text in texts]


def as_text(value: Any) -> Any:
    """An id as mem0 takes it: the key of a row elsewhere is a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _refused(code: str, detail: str) -> Invalid:
    return Invalid(errors=[FieldError("/filters", code, detail)])

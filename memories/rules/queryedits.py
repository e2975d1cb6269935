"""Conditions put into a query, or taken out of it, as a click on a filter does."""

from __future__ import annotations

from functools import lru_cache

from memories.rules.queryfields import FIELDS, check_value
from memories.rules.querylanguage import parse
from memories.rules.queryparts import Condition, ParsedQuery
from memories.rules.querytext import condition_text, without


def conditions_on(text: str, field: str) -> list[Condition]:
    """The conditions that want, or leave out, one value of a field."""
    return [term for term in parsed(text).terms if term.field == field and term.operator == "="]


@lru_cache(maxsize=16)
def parsed(text: str) -> ParsedQuery:
    """The query, read once for every filter of a page that looks at it."""
    return parse(text)


def has_condition(text: str, field: str, value: str, *, negated: bool) -> bool:
    """Whether the text says it."""
    return bool(_same(text, field, value, negated))


def with_condition(text: str, field: str, value: str, *, negated: bool) -> str:
    """The text with the condition at its end; what said the opposite is gone."""
    cleared = without_condition(text, field, value, negated=not negated)
    return f"{cleared} {condition_text(field, value, negated=negated)}".strip()


def without_condition(text: str, field: str, value: str, *, negated: bool) -> str:
    """The text without it, wherever it stands."""
    return without(text, *_same(text, field, value, negated))


def can_say(field: str, value: str) -> bool:
    """Whether the query language can name the value."""
    return isinstance(check_value(FIELDS[field], "=", value), str)


def _same(text: str, field: str, value: str, negated: bool) -> list[Condition]:
    wanted = value.casefold()
    return [term for term in conditions_on(text, field) if term.negated == negated and term.value.casefold() == wanted]

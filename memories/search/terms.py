"""Conditions of the query language as SQL. Every field has its function here; there is no other way in (SRC-20)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.lookups import DataContains
from django.db.models import Q, TextField
from django.db.models.functions import Cast, Lower

from banks.access import Access
from banks.services.banks import UnknownBank
from memories.models import Link, Memory
from memories.rules.periods import span_of
from memories.rules.queryfields import COMPARISONS, nearest, on_scale, shown
from memories.rules.queryparts import Condition, QueryMistake
from memories.rules.vocabulary import Relation, Status
from memories.search.names import Names
from memoryhub.lib.clock import now

type Narrow = Callable[[Names, Condition], Q]

EVERYTHING = Q(pk__isnull=False)
BANKS_NAMED = 12


class BankMistake(LookupError):
    """A condition names a bank the caller does not have."""

    def __init__(self, mistake: QueryMistake) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake


def terms_condition(
    access: Access, terms: Sequence[Condition], names: Names | None = None
) -> tuple[dict[str, Q], list[QueryMistake]]:
    """Field → its condition: any of its values, every comparison and flag, nothing left out; and what has no answer."""
    names = names or Names(access)
    by_field: dict[str, Q] = {}
    mistakes = []
    choices: dict[str, list[Q]] = {}
    said_once = {(term.field, term.operator, term.value, term.negated): term for term in reversed(terms)}
    for term in reversed(said_once.values()):
        try:
            meant = _NARROWING[term.field](names, term)
        except BankMistake as error:
            mistakes.append(error.mistake)
            continue
        if term.negated:
            by_field[term.field] = by_field.get(term.field, Q()) & ~meant
        elif term.field in {"is", "has"} or term.operator in COMPARISONS:
            by_field[term.field] = by_field.get(term.field, Q()) & meant
        else:
            choices.setdefault(term.field, []).append(meant)
    for field, any_of in choices.items():
        by_field[field] = by_field.get(field, Q()) & reduce(operator.or_, any_of)
    return by_field, mistakes


def _bank(known: Names, term: Condition) -> Q:
    try:
        return Q(bank_id=known.bank(term.value).pk)
    except UnknownBank as error:
        names = list((error.extra or {}).get("banks", []))
    close = nearest(term.value, [name.casefold() for name in names])
    listed = ", ".join(names[:BANKS_NAMED]) + (", …" if len(names) > BANKS_NAMED else "")
    meant = next((name for name in names if name.casefold() == close), None)
    hint = f"Did you mean {meant}? " if meant else ""
    message = f"There is no bank “{shown(term.value)}”."
    raise BankMistake(QueryMistake(message, term.start, term.end, f"{hint}The banks are: {listed or 'none'}."))


def _agent(names: Names, term: Condition) -> Q:
    """By name, or by the id memories carry."""
    return Q(agent_id__in=names.agent_ids(term.value))


def _exact(column: str) -> Narrow:
    return lambda names, term: Q(**{column: term.value})


def _label(column: str) -> Narrow:
    """One of the labels, in any case; the first alternative is what was written."""

    def narrow(names: Names, term: Condition) -> Q:
        labels: ArrayField[list[str], list[str]] = ArrayField(TextField())
        folded = Cast(Lower(Cast(column, TextField())), labels)
        return Q(**{f"{column}__contains": [term.value]}) | Q(DataContains(folded, [term.value.lower()]))

    return narrow


def _scale(column: str, parse: Callable[[str], object]) -> Narrow:
    def narrow(names: Names, term: Condition) -> Q:
        values = [parse(value) for value in on_scale(term.field, term.operator, term.value)]
        return Q(**{f"{column}__in": values})

    return narrow


def _moment(column: str) -> Narrow:
    def narrow(names: Names, term: Condition) -> Q:
        span = span_of(term.operator, term.value, now())
        condition = Q(**{f"{column}__isnull": False})
        if span.since is not None:
            condition &= Q(**{f"{column}__gte": span.since})
        if span.before is not None:
            condition &= Q(**{f"{column}__lt": span.before})
        return condition

    return narrow


def _status(names: Names, term: Condition) -> Q:
    return EVERYTHING if term.value == "any" else Q(status=term.value)


def _archived(names: Names, term: Condition) -> Q:
    return EVERYTHING if term.value == "any" else Q(archived_at__isnull=term.value == "false")


def _is(names: Names, term: Condition) -> Q:
    match term.value:
        case "protected":
            return Q(is_protected=True)
        case "archived":
            return Q(archived_at__isnull=False)
        case "draft":
            return Q(status=Status.DRAFT.value)
        case "expired":
            return Q(expires_at__lte=now())
        case "superseded":
            return Q(superseded_by__isnull=False)
        case _:
            return Q(is_summarized=True)


def _has(names: Names, term: Condition) -> Q:
    match term.value:
        case "conflict":
            return _linked(names.access, Q(relation=Relation.CONTRADICTS.value))
        case "links":
            return _linked(names.access, Q())
        case "expiry":
            return Q(expires_at__isnull=False)
        case "event":
            return Q(event_at__isnull=False)
        case "session":
            return Q(session_id__isnull=False)
        case _:
            return ~Q(**{term.value: []})


def _linked(access: Access, kind: Q) -> Q:
    """At either end of a link whose other end the caller may see."""
    seen = Memory.objects.visible_to(access).order_by().values("pk")
    links = Link.objects.filter(kind, vault_id=access.vault_id).order_by()
    sources = links.filter(target__in=seen).values("source_id")
    targets = links.filter(source__in=seen).values("target_id")
    return Q(pk__in=sources) | Q(pk__in=targets)


_NARROWING: Mapping[str, Narrow] = {
    "bank": _bank,
    "agent": _agent,
    "user": _exact("user_id"),
    "session": _exact("session_id"),
    "task": _exact("task_id"),
    "tag": _label("tags"),
    "entity": _label("entities"),
    "fact_key": _exact("fact_key"),
    "id": _exact("pk"),
    "type": _exact("type"),
    "category": _exact("category"),
    "role": _exact("role"),
    "source": _exact("source_kind"),
    "status": _status,
    "archived": _archived,
    "importance": _scale("importance", int),
    "trust": _scale("trust", str),
    "created": _moment("created_at"),
    "updated": _moment("updated_at"),
    "event": _moment("event_at"),
    "expires": _moment("expires_at"),
    "is": _is,
    "has": _has,
}

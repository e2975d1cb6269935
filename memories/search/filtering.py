"""One translation of filters into SQL, for lists, facets and every leg of recall (SRC-18)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from banks.access import Access
from memories.models import Memory
from memories.models.memory import MemoryQuerySet
from memories.rules.filters import MemoryFilter, Presence, StatusFilter
from memories.rules.queryparts import QueryMistake
from memories.rules.vocabulary import Status, Trust, words
from memories.search.asof import conditions_then, judged_then
from memories.search.names import Names
from memories.search.querying import Understood, understand_text
from memoryhub.lib.clock import now

type Narrow = Callable[[Names, MemoryFilter], Q]


def _any_of(column: str, field: str) -> Narrow:
    def narrow(names: Names, wanted: MemoryFilter) -> Q:
        values = getattr(wanted, field)
        return Q(**{f"{column}__in": values}) if values else Q()

    return narrow


def _banks(names: Names, wanted: MemoryFilter) -> Q:
    banks = [names.bank(name, f"{wanted.banks_pointer}/{place}") for place, name in enumerate(wanted.bank)]
    return Q(bank_id__in=[bank.pk for bank in banks]) if wanted.bank else Q()


def _agents(names: Names, wanted: MemoryFilter) -> Q:
    """By id or by name: people know their agents by name."""
    ids = [agent_id for named in wanted.agent_id for agent_id in names.agent_ids(named)]
    return Q(agent_id__in=list(dict.fromkeys(ids))) if ids else Q()


def _status(names: Names, wanted: MemoryFilter) -> Q:
    return Q() if wanted.status == StatusFilter.ANY else Q(status=wanted.status.value)


def _archived(names: Names, wanted: MemoryFilter) -> Q:
    """Hidden ones are archived or replaced; asking for them, or for any, shows expired ones too."""
    if wanted.archived == Presence.ANY:
        return Q()
    if wanted.archived == Presence.TRUE:
        return Q(archived_at__isnull=False)
    return Q(archived_at=None, superseded_by=None) & (Q(expires_at=None) | Q(expires_at__gt=wanted.as_of or now()))


def _all_of(column: str, field: str) -> Narrow:
    def narrow(names: Names, wanted: MemoryFilter) -> Q:
        values = getattr(wanted, field)
        return Q(**{f"{column}__contains": values}) if values else Q()

    return narrow


def _namespace(names: Names, wanted: MemoryFilter) -> Q:
    return Q(namespace=wanted.namespace) if wanted.namespace is not None else Q()


def _importance(names: Names, wanted: MemoryFilter) -> Q:
    return Q(importance__gte=wanted.min_importance) if wanted.min_importance > 1 else Q()


def _trust(names: Names, wanted: MemoryFilter) -> Q:
    if wanted.min_trust in {None, Trust.UNTRUSTED}:
        return Q()
    return Q(trust__in=[trust for trust in words(Trust) if Trust(trust).rank >= Trust(wanted.min_trust).rank])


def _created(names: Names, wanted: MemoryFilter) -> Q:
    condition = Q()
    if wanted.created_after is not None:
        condition &= Q(created_at__gte=wanted.created_after)
    if wanted.created_before is not None:
        condition &= Q(created_at__lt=wanted.created_before)
    return condition


def _existing(names: Names, wanted: MemoryFilter) -> Q:
    return Q(created_at__lte=wanted.as_of) if wanted.as_of is not None else Q()


def _exact(column: str) -> Narrow:
    def narrow(names: Names, wanted: MemoryFilter) -> Q:
        value = getattr(wanted, column)
        return Q(**{column: value}) if value is not None else Q()

    return narrow


#: Filter name → condition. A facet leaves out its own (self-excluding counts).
NARROWING: dict[str, Narrow] = {
    "bank": _banks,
    "type": _any_of("type", "type"),
    "category": _any_of("category", "category"),
    "role": _any_of("role", "role"),
    "status": _status,
    "archived": _archived,
    "agent_id": _agents,
    "user_id": _any_of("user_id", "user_id"),
    "session_id": _any_of("session_id", "session_id"),
    "task_id": _any_of("task_id", "task_id"),
    "tag": _all_of("tags", "tag"),
    "entity": _all_of("entities", "entity"),
    "source_kind": _any_of("source_kind", "source_kind"),
    "confidence": _any_of("confidence", "confidence"),
    "namespace": _namespace,
    "min_importance": _importance,
    "min_trust": _trust,
    "created": _created,
    "is_protected": _exact("is_protected"),
    "external_write_id": _exact("external_write_id"),
    "fact_key": _exact("fact_key"),
    "as_of": _existing,
}


type Conditions = Mapping[str, Q]


@dataclass(frozen=True, slots=True)
class Understanding:
    """Every filter's condition, and what of the text could not be understood."""

    given: Conditions
    mistakes: tuple[QueryMistake, ...]
    names: Names
    #: The same with the text's conditions apart, ``q:bank`` beside ``q``, so that a count can leave out its own.
    parted: Conditions


def understand(access: Access, wanted: MemoryFilter) -> Understanding:
    """Filter name → its condition, banks looked up once.

    Raises UnknownBank for the filter, not for the text, and TooMuchChanged.
    """
    names = Names(access)
    text, shown, given = _of_today(names, wanted)
    if shown.as_of is not None:
        given = conditions_then(access, shown, given)
    apart = {f"q:{field}": condition for field, condition in text.by_field.items()}
    return Understanding(given, text.mistakes, names, {**given, "q": text.rest, **apart})


def failed(access: Access, wanted: MemoryFilter, memory_id: UUID) -> tuple[str, ...]:
    """The filters that one memory of the caller's does not pass, or did not at ``as_of``; each judged by itself."""
    _, shown, given = _of_today(Names(access), wanted)
    judged = {} if shown.as_of is None else judged_then(access, shown, memory_id)
    row = Memory.objects.visible_to(access).filter(pk=memory_id)
    asked = (name for name, condition in given.items() if condition and name not in judged)
    return (
        *(name for name in asked if not row.filter(given[name]).exists()),
        *(name for name, passes in judged.items() if not passes),
    )


def _of_today(names: Names, wanted: MemoryFilter) -> tuple[Understood, MemoryFilter, Conditions]:
    """What the text says, the filter with it, and every filter's condition on the labels of today."""
    text = understand_text(names.access, wanted.q, names)
    shown = _as_the_text_says(wanted, text)
    return text, shown, {"q": text.condition, **{name: narrow(names, shown) for name, narrow in NARROWING.items()}}


def _as_the_text_says(wanted: MemoryFilter, text: Understood) -> MemoryFilter:
    """Without the defaults the text speaks about itself; filters that were given stay."""
    defaults: dict[str, object] = {}
    if text.names_status and "status" not in wanted.model_fields_set:
        defaults["status"] = StatusFilter.ANY
    if text.names_hidden and "archived" not in wanted.model_fields_set:
        defaults["archived"] = Presence.ANY
    return wanted.model_copy(update=defaults) if defaults else wanted


def conditions(access: Access, wanted: MemoryFilter) -> Conditions:
    """Filter name → its condition. Raises UnknownBank."""
    return understand(access, wanted).given


def matching(access: Access, wanted: MemoryFilter) -> MemoryQuerySet:
    """The caller's memories that pass every filter. Raises UnknownBank."""
    return narrowed(access, conditions(access, wanted))


def narrowed(access: Access, given: Conditions, leave_out: Collection[str] = ()) -> MemoryQuerySet:
    """The caller's memories that meet every condition but those of the filters in ``leave_out``."""
    rows = Memory.objects.visible_to(access)
    for name, condition in given.items():
        if name not in leave_out:
            rows = rows.filter(condition)
    return rows


def is_recallable(memory: Memory, at: dt.datetime) -> bool:
    """Whether default recall may return it (STA-09)."""
    return (
        memory.status == Status.ACCEPTED
        and memory.archived_at is None
        and memory.superseded_by_id is None
        and (memory.expires_at is None or memory.expires_at > at)
    )

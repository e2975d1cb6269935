"""What a list's text asks for: one condition in SQL, and the mistakes in it (SRC-19, SRC-20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_

from django.db.models import Q

from banks.access import Access
from memories.models import Memory
from memories.rules.querylanguage import parse
from memories.rules.queryparts import Condition, QueryMistake, Saying
from memories.search.names import Names
from memories.search.phrases import COMPARED_MAX, memories_with_any, memories_with_phrases
from memories.search.terms import terms_condition
from memories.search.wording import holds_each

_NONE = Q(pk__in=[])
_HIDDEN = {"archived", "expired", "superseded"}


@dataclass(frozen=True, slots=True)
class Understood:
    """The condition, what was left out of it, and which defaults of a list the text speaks about itself."""

    condition: Q
    mistakes: tuple[QueryMistake, ...] = ()
    #: The condition in parts: by field where they are independent of the words, and the rest.
    by_field: Mapping[str, Q] = field(default_factory=dict)
    rest: Q = field(default_factory=Q)
    names_status: bool = False
    names_hidden: bool = False


def understand_text(access: Access, text: str, names: Names | None = None) -> Understood:
    """Words, phrases and conditions together; words that are in no index find nothing rather than everything."""
    if not text.strip():
        return Understood(Q())
    query = parse(text)
    by_field, unanswered = terms_condition(access, query.terms, names)
    said, unsaid = _words(access, query.words)
    condition = reduce(and_, by_field.values(), Q()) & said
    mistakes = [*query.errors, *unanswered, *unsaid]
    compared, uncompared = _phrases(access, query.phrases, condition)
    condition &= compared
    mistakes += uncompared
    # Phrases were looked for in what meets everything else, so nothing can be taken out from under them.
    parts = ({}, condition) if query.phrases else (by_field, said)
    return Understood(
        condition,
        tuple(sorted(mistakes, key=lambda mistake: mistake.start)),
        *parts,
        names_status=any(map(_names_status, query.terms)),
        names_hidden=any(map(_names_hidden, query.terms)),
    )


def _phrases(access: Access, phrases: Sequence[Saying], others: Q) -> tuple[Q, list[QueryMistake]]:
    """Every phrase and none of those left out, looked for in what meets the ``others``; each text is opened once."""
    rows = Memory.objects.visible_to(access).filter(others)
    wanted = [phrase for phrase in phrases if not phrase.negated]
    unwanted = [phrase for phrase in phrases if phrase.negated]
    if wanted:
        texts = [phrase.text for phrase in wanted], [phrase.text for phrase in unwanted]
        found = memories_with_phrases(access, rows, *texts, COMPARED_MAX)
        return Q(pk__in=found.ids), [_cut(wanted[0])] if found.cut else []
    if not unwanted:
        return Q(), []
    found = memories_with_any(access, rows, [phrase.text for phrase in unwanted], COMPARED_MAX)
    return ~Q(pk__in=found.ids), [_cut(phrase) for phrase in unwanted] if found.cut else []


def _words(access: Access, words: Sequence[Saying]) -> tuple[Q, list[QueryMistake]]:
    """Every plain word and none of those left out."""
    condition, mistakes = Q(), []
    plain = " ".join(word.text for word in words if not word.negated)
    unwanted = [word for word in words if word.negated]
    wanted, *held = holds_each(access, [plain, *(word.text for word in unwanted)])
    if plain:
        condition &= _NONE if wanted is None else wanted
    for word, holding in zip(unwanted, held, strict=True):
        if holding is None:
            mistakes.append(_not_indexed(word))
        else:
            condition &= ~holding
    return condition, mistakes


def _not_indexed(word: Saying) -> QueryMistake:
    hint = f'To leave it out of the text itself, quote it: -"{word.text[:40]}".'
    return QueryMistake("This is too common to be left out.", word.start, word.end, hint)


def _cut(phrase: Saying) -> QueryMistake:
    message = f"Only the newest {COMPARED_MAX:,} memories with these words were compared."
    return QueryMistake(
        message, phrase.start, phrase.end, "Add a rarer word, or a condition such as bank: or created:."
    )


def _names_status(term: Condition) -> bool:
    return term.field == "status" or _shows(term, "id") or _shows(term, "is", {"draft"})


def _names_hidden(term: Condition) -> bool:
    if term.field == "archived":
        return term.negated != (term.value != "false")
    return _shows(term, "id") or _shows(term, "is", _HIDDEN)


def _shows(term: Condition, field: str, values: set[str] | None = None) -> bool:
    """Whether it asks to see them, rather than not to."""
    return term.field == field and not term.negated and (values is None or term.value in values)

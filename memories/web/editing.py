"""Two people at one memory: what was typed is kept, and set beside what is in the hub now and what it was before.

What only one of the two changed is no conflict: it is taken over, and only what both touched is left to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memories.search.reading import get_revision
from memories.services.revising import thawed
from memories.web.forms import EditForm, initial_of, parted, spoken
from memories.web.history import in_words
from memories.web.rows import opened
from memories.web.worddiff import Piece, word_diff
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.errors import NotFound

if TYPE_CHECKING:
    from banks.access import Access
    from banks.models import Bank
    from memories.models import Memory

_NOT_LABELS = frozenset({"content", "version", "reason"})


@dataclass(frozen=True, slots=True)
class Differing:
    """A label that is not the same in all three; ``was`` is empty when that is not known."""

    name: str
    was: str
    theirs: str
    yours: str


@dataclass(frozen=True, slots=True)
class EditConflict:
    """Theirs and yours, each compared with what it was; without that, yours is compared with theirs."""

    version: int
    was_version: int
    was: str | None
    theirs: list[Piece]
    yours: list[Piece]
    labels: list[Differing]


@dataclass(frozen=True, slots=True)
class Based:
    """The values a form began with, where its version is still kept."""

    initial: dict[str, Any] | None = None


def based_on(access: Access, current: Memory, form: EditForm, banks: list[Bank]) -> Based:
    """What the memory was when the form was opened."""
    try:
        before = dict(get_revision(access, current.pk, form.cleaned_data["version"]).before)
    except (NotFound, CryptoError):
        return Based()
    if before.get("content") is None:
        return Based()
    known = {name: thawed(name, value) for name, value in before.items()}
    slugs = {bank.pk: bank.slug for bank in banks}
    slug = slugs.get(known.get("bank_id") or current.bank_id, current.bank.slug)
    return Based({**initial_of(_then(current, known), known["content"]), "bank": slug})


def _then(current: Memory, known: dict[str, Any]) -> Memory:
    names = {field.attname for field in type(current)._meta.concrete_fields}
    then = type(current)(**{name: value for name, value in known.items() if name in names and name != "content"})
    then.bank = current.bank
    return then


def conflict_with(current: Memory, form: EditForm, banks: list[Bank], base: Based) -> EditConflict:
    """How the form and ``current``, the version somebody else saved, differ from what both began with."""
    text, typed = opened(current) or "", form.body()
    theirs = initial_of(current, text)
    named = {bank.slug: bank.name for bank in banks}
    labels = []
    for name in form.cleaned_data:
        if name in _NOT_LABELS:
            continue
        hub, mine = _said(theirs[name], named), _said(form.cleaned_data[name], named)
        was = _said(base.initial[name], named) if base.initial else ""
        if hub != mine and (not base.initial or mine != was):
            labels.append(Differing(str(form.fields[name].label or spoken(name)), was, hub, mine))
    before = base.initial["content"] if base.initial else None
    return EditConflict(
        version=current.version,
        was_version=form.cleaned_data["version"],
        was=before,
        theirs=word_diff(text if before is None else before, text),
        yours=word_diff(text if before is None else before, typed["content"]),
        labels=labels,
    )


def _said(value: Any, banks: dict[str, str]) -> str:
    if isinstance(value, str) and ("," in value or "\n" in value):
        return in_words(parted(value))
    return banks.get(value, in_words(value)) if isinstance(value, str) else in_words(value)


def as_typed(form: EditForm, current: Memory, banks: list[Bank], base: Based) -> EditForm:
    """The same form again, now based on ``current``: saving it is a decision, no longer an accident.

    What was not touched in it becomes what it is now.
    """
    theirs = initial_of(current, opened(current) or "")
    data = {**dict(form.data.items()), "version": str(current.version)}
    began = type(form)(form.data, banks=banks, initial=base.initial) if base.initial else form
    for name in form.fields:
        if base.initial and name not in {*began.changed_data, "version", "reason"}:
            fresh = type(form)(banks=banks, initial=theirs)[name].value()
            data[name] = form.fields[name].widget.format_value(fresh) if name.endswith("_at") else fresh
            if fresh in {None, False}:
                data.pop(name)
    again = type(form)(data, banks=banks, initial=theirs)
    # What happened is to be read first.
    again.fields["content"].widget.attrs.pop("autofocus", None)
    return again

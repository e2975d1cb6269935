"""Two people at one memory: what was typed is kept and set beside what is in the hub now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memories.web.forms import EditForm, initial_of, parted, spoken
from memories.web.history import Label, in_words
from memories.web.memorypage import EditConflict
from memories.web.rows import opened
from memories.web.worddiff import word_diff

if TYPE_CHECKING:
    from banks.models import Bank
    from memories.models import Memory


def conflict_with(current: Memory, form: EditForm, banks: list[Bank]) -> EditConflict:
    """How the form differs from ``current``, the version somebody else saved."""
    text = opened(current) or ""
    typed = form.body()
    theirs = EditForm(banks=banks, initial=initial_of(current, text))
    named = {bank.slug: bank.name for bank in banks}
    labels = (
        Label(
            str(theirs.fields[name].label or spoken(name)),
            _said(theirs.initial[name], named),
            _said(form.cleaned_data[name], named),
        )
        for name in form.cleaned_data
        if name not in {"content", "version", "reason"}
    )
    differing = [label for label in labels if label.before != label.after]
    return EditConflict(pieces=word_diff(text, typed["content"]), labels=differing)


def _said(value: Any, banks: dict[str, str]) -> str:
    if isinstance(value, str) and ("," in value or "\n" in value):
        return in_words(parted(value))
    return banks.get(value, in_words(value)) if isinstance(value, str) else in_words(value)


def as_typed(form: EditForm, current: Memory, banks: list[Bank]) -> EditForm:
    """The same form again, now based on ``current``: saving it is a decision, no longer an accident."""
    data = {**dict(form.data.items()), "version": str(current.version)}
    again = EditForm(data, banks=banks, initial=initial_of(current, opened(current) or ""))
    # What happened is to be read first.
    again.fields["content"].widget.attrs.pop("autofocus", None)
    return again

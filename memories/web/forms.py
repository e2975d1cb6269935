"""The fields of a memory's page. They only draw and collect: what is acceptable is decided by the drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from memories.rules.limits import CONTENT_MAX, REASON_MAX
from memories.rules.vocabulary import MemoryCategory, MemoryType

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from banks.models import Bank
    from memories.models import Memory

SCORES = (("1", "1, least"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5, most"))
LABELS_HINT = "Separated by commas, or one on each line."


def spoken(value: str) -> str:
    """``user_profile`` → ``User profile``."""
    return value.replace("_", " ").capitalize()


def joined(values: Iterable[str]) -> str:
    """Labels in one field; one on each line where a comma is part of one, so that nothing is torn apart."""
    values = list(values)
    return "\n".join([*values, ""]) if any("," in value for value in values) else ", ".join(values)


def parted(text: str) -> list[str]:
    """The labels in a field, as ``joined`` wrote them."""
    pieces = text.splitlines() if "\n" in text else text.split(",")
    return [piece.strip() for piece in pieces if piece.strip()]


class TextField(forms.CharField):
    """Text of several lines. Browsers send CR LF; what is stored has LF, and an untouched field is unchanged."""

    def to_python(self, value: Any) -> Any:
        """The text with the line ends it is stored with."""
        text = super().to_python(value)
        return text.replace("\r\n", "\n").replace("\r", "\n") if isinstance(text, str) else text

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether more differs than line ends; a program may have stored others than a browser sends back."""
        return super().has_changed(self.to_python(initial), data)


def _moment(label: str) -> forms.DateTimeField:
    widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    return forms.DateTimeField(required=False, label=label, widget=widget)


class MemoryForm(forms.Form):
    """What a person may say about a memory."""

    content = TextField(max_length=CONTENT_MAX, label="Memory", widget=forms.Textarea({"rows": 5, "autofocus": True}))
    bank = forms.ChoiceField()
    type = forms.ChoiceField(choices=[(value.value, spoken(value)) for value in MemoryType])
    category = forms.ChoiceField(
        required=False, choices=[("", "None"), *((value.value, spoken(value)) for value in MemoryCategory)]
    )
    importance = forms.ChoiceField(choices=SCORES, initial="3")
    confidence = forms.ChoiceField(choices=SCORES, initial="3")
    tags = TextField(
        required=False, strip=False, widget=forms.Textarea({"rows": 1, "class": "low"}), help_text=LABELS_HINT
    )
    entities = TextField(
        required=False,
        strip=False,
        label="People, places, things",
        widget=forms.Textarea({"rows": 1, "class": "low"}),
        help_text=LABELS_HINT,
    )
    event_at = _moment("Happened (UTC)")
    expires_at = _moment("Expires (UTC)")
    is_protected = forms.BooleanField(required=False)

    def __init__(self, *args: Any, banks: list[Bank], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["bank"].choices = [(bank.slug, bank.name) for bank in banks]  # type: ignore[attr-defined]

    def body(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """The fields, or some of them, in the shape of a draft."""
        said = {name: _drafted(name, value) for name, value in self.cleaned_data.items()}
        return said if names is None else {name: said[name] for name in names if name in said}


def _drafted(name: str, value: Any) -> Any:
    match name:
        case "importance" | "confidence":
            return int(value)
        case "tags" | "entities":
            return parted(value)
        case "category":
            return value or None
        case "event_at" | "expires_at":
            return value and value.isoformat()
        case _:
            return value


class EditForm(MemoryForm):
    """A memory that exists: the version it is based on, and why."""

    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    reason = forms.CharField(required=False, max_length=REASON_MAX, label="Why", help_text="Kept in the history.")

    def changes(self) -> dict[str, Any]:
        """Only what differs from what the form began with."""
        body = self.body(set(self.changed_data) - {"version", "reason"})
        return {**body, "reason": self.cleaned_data.get("reason", "")} if body else {}


class RowForm(EditForm):
    """What can be changed without leaving the list."""

    SHOWN = ("content", "bank", "tags", "version")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in [name for name in self.fields if name not in self.SHOWN]:
            del self.fields[name]
        self.fields["content"].widget.attrs["rows"] = 3


def initial_of(memory: Memory, text: str) -> dict[str, Any]:
    """The form's values of a memory that exists."""
    return {
        "content": text,
        "bank": memory.bank.slug,
        "type": memory.type,
        "category": memory.category or "",
        "importance": str(memory.importance),
        "confidence": str(memory.confidence),
        "tags": joined(memory.tags),
        "entities": joined(memory.entities),
        "event_at": _minute(memory.event_at),
        "expires_at": _minute(memory.expires_at),
        "is_protected": memory.is_protected,
        "version": memory.version,
    }


def _minute(moment: dt.datetime | None) -> dt.datetime | None:
    """What the field can show, so that opening and saving a form does not change a time by its seconds."""
    return moment and moment.replace(second=0, microsecond=0)

"""What one bank keeps: every key with its value and source, a look at what would go, and doing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import KeyScope
from banks.services.banks import get_bank
from memories.rules.layers import DEFAULT, INFO
from memories.rules.retention import RetentionReason
from memories.rules.settings import Level
from memories.rules.vocabulary import MemoryCategory, MemoryType
from memories.search.reading import read_memories
from memories.services.retention import KEYS, Kept, policy_of, preview_retention, start_retention, write_retention
from memories.services.settings import read_settings
from memories.web.forms import spoken
from memories.web.history import in_words
from memories.web.rows import opened
from memoryhub.lib.errors import Invalid
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpResponse

    from banks.access import Access
    from banks.models import Bank
    from memories.rules.layers import Effective
    from memories.web.requests import HubRequest

LABELS = {
    "enable_retention": "Retention",
    "retention_max_age_days": "Archive after days",
    "retention_inactive_days": "Archive after days unused",
    "retention_max_memories": "Most memories",
    "retention_types": "Only these types",
    "retention_categories": "Only these categories",
    "purge_discarded_days": "Erase discarded after days",
    "purge_archived_days": "Erase archived after days",
}
CHOICES = {"retention_types": MemoryType, "retention_categories": MemoryCategory}
REASONS = {
    RetentionReason.AGE: "too old",
    RetentionReason.INACTIVE: "neither recalled nor changed for too long",
    RetentionReason.COUNT: "too many, and needed least recently",
}
COUNT_DIGITS = 10


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key of the policy, what holds for the bank, and who said so."""

    key: str
    label: str
    meaning: str
    value: str
    source: str
    is_default: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What a policy would do now: counted by reason, and the first of it as lines (address, text, why)."""

    kept: Kept
    reasons: list[tuple[str, int]]
    lines: list[tuple[str, str | None, str]]
    may_apply: bool


class RetentionForm(forms.Form):
    """What the bank itself says; an empty field leaves it to the vault."""

    enable_retention = forms.TypedChoiceField(
        required=False,
        choices=[("", "As the vault says"), ("on", "On"), ("off", "Off")],
        coerce=lambda value: value == "on",
        empty_value=None,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for key in list(KEYS.values())[1:]:
            self.fields[key] = _field_of(key)
        for key, label in LABELS.items():
            self.fields[key].label = label

    @property
    def said(self) -> dict[str, Any]:
        """Key → what was typed; None where nothing was."""
        typed = {key: self.cleaned_data[key] for key in KEYS.values()}
        return {key: None if value == [] else value for key, value in typed.items()}


def _field_of(key: str) -> forms.Field:
    info = INFO[key]
    if key in CHOICES:
        choices = [(one.value, spoken(one.value)) for one in CHOICES[key]]
        return forms.MultipleChoiceField(
            required=False, choices=choices, widget=forms.CheckboxSelectMultiple, help_text=info.description
        )
    assert info.minimum is not None
    assert info.maximum is not None
    return forms.IntegerField(
        required=False, min_value=int(info.minimum), max_value=int(info.maximum), help_text=info.description
    )


def retention(request: HubRequest, slug: str) -> HttpResponse:
    """The policy and its form. ``look`` counts what would go, of what is typed or of what holds; it changes nothing."""
    request.access.require(KeyScope.CLEANUP_PLAN)
    bank = get_bank(request.access, slug)
    form = RetentionForm(request.POST or None, initial=_own(read_settings(request.access, bank.pk)))
    look = _look(request.access, bank, {}) if "look" in request.GET and not form.is_bound else None
    if form.is_bound and "look" in request.POST:
        look = submitted(form, lambda: _look(request.access, bank, _proposed(request.access, form.said)))
    elif submitted(form, lambda: _save(request.access, bank, form)) is not None:
        say(request, "Saved. Below is what it would do now.")
        return SeeOther(f"{reverse('retention', args=[slug])}?look=1#look")
    context = {
        "bank": bank,
        "form": form,
        "lines": _key_lines(read_settings(request.access, bank.pk)),
        "look": look,
        "may_save": request.access.has(KeyScope.SETTINGS_ADMIN),
    }
    return answer_page(request, "memories/retention.html", context, status=422 if form.errors else 200)


@require_POST
def start(request: HubRequest, slug: str) -> HttpResponse:
    """Have the bank's policy enforced now; refused when more or less would go than was shown."""
    bank = get_bank(request.access, slug)
    count = request.POST.get("expected_count", "")
    if not (count.isdecimal() and len(count) < COUNT_DIGITS):
        raise Invalid("Look first: only what was counted is applied.")
    job = start_retention(request.access, str(bank.pk), int(count))
    say(request, "It is being applied. What was archived is one changeset; what was erased has a receipt.")
    return SeeOther(reverse("job", args=[job.pk]))


def _own(effective: Mapping[str, Effective]) -> dict[str, Any]:
    """What the bank itself says, as the form shows it."""
    own = {key: effective[key].value for key in KEYS.values() if effective[key].source == Level.BANK}
    if "enable_retention" in own:
        own["enable_retention"] = "on" if own["enable_retention"] else "off"
    return own


def _save(access: Access, bank: Bank, form: RetentionForm) -> list[Kept]:
    return write_retention(access, str(bank.pk), form.said)


def _proposed(access: Access, said: Mapping[str, Any]) -> dict[str, Any]:
    """What would hold if this were saved: where the bank says nothing, the vault does."""
    vault = read_settings(access)
    return {key: vault[key].value if value is None else value for key, value in said.items()}


def _look(access: Access, bank: Bank, proposed: Mapping[str, Any]) -> Look:
    [kept] = preview_retention(access, str(bank.pk), proposed)
    why = {str(pk): REASONS[reason] for pk, reason in kept.first.items()}
    why |= dict.fromkeys(map(str, kept.first_purged), "put away long ago: erased for good")
    memories, _ = read_memories(access, list(why))
    holds = kept.policy == policy_of(access, bank.pk)
    return Look(
        kept=kept,
        reasons=[(REASONS[reason], count) for reason, count in kept.to_archive.items()],
        lines=[(reverse("memory", args=[one.pk]), opened(one), why[str(one.pk)]) for one in memories],
        may_apply=holds and kept.count > 0 and access.has(KeyScope.CLEANUP_APPLY),
    )


def _key_lines(effective: Mapping[str, Effective]) -> list[KeyLine]:
    return [
        KeyLine(
            key=key,
            label=LABELS[key],
            meaning=INFO[key].description,
            value=in_words(effective[key].value),
            source=effective[key].source,
            is_default=effective[key].source == DEFAULT,
        )
        for key in KEYS.values()
    ]

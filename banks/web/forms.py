"""The fields of the pages. They only draw and collect: what is acceptable is decided by the drafts and services."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms

from banks.access import SCOPES_FOR, KeyScope
from banks.models import Agent, Bank
from memoryhub.lib.clock import now

PRESETS = (
    ("agent", "Agent: read, write, archive"),
    ("reader", "Read only"),
    ("operator", "Operator: read, jobs, clean-up plans"),
    ("all", "Everything you may do"),
    ("own", "Choose single scopes below"),
)
EXPIRIES = (("", "Never"), ("7", "In a week"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"))
TRUST = (
    ("verified", "Verified: whatever its source allows"),
    ("stated", "Stated"),
    ("inferred", "Inferred"),
    ("untrusted", "Untrusted"),
)


class BankForm(forms.Form):
    """A bank's name and purpose."""

    name = forms.CharField(max_length=50)
    description = forms.CharField(
        max_length=500, required=False, label="What belongs in it", widget=forms.Textarea({"rows": 2, "class": "brief"})
    )


class AgentForm(forms.Form):
    """A caller and where its memories go (UI-03)."""

    name = forms.CharField(max_length=100)
    description = forms.CharField(max_length=500, required=False)
    default_bank = forms.ChoiceField(required=False, help_text="Where its memories go when it names no bank.")
    trust_ceiling = forms.ChoiceField(
        choices=TRUST, label="Highest trust", help_text="Memories it writes are never trusted more than this."
    )
    preferred_banks = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    is_isolated = forms.BooleanField(required=False)

    def __init__(self, *args: Any, banks: list[Bank], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(bank.slug, bank.name) for bank in banks]
        self.fields["default_bank"].choices = [("", "The vault's default"), *choices]  # type: ignore[attr-defined]
        self.fields["preferred_banks"].choices = choices  # type: ignore[attr-defined]

    def draft(self) -> dict[str, Any]:
        """The fields as the services take them."""
        return {**self.cleaned_data, "default_bank": self.cleaned_data["default_bank"] or None}


def agent_initial(agent: Agent) -> dict[str, Any]:
    """The form's values of an agent that exists."""
    return {
        "name": agent.name,
        "description": agent.description,
        "default_bank": agent.default_bank.slug if agent.default_bank else "",
        "preferred_banks": [bank.slug for bank in agent.preferred_banks.all()],
        "is_isolated": agent.is_isolated,
        "trust_ceiling": agent.trust_ceiling,
    }


class KeyForm(forms.Form):
    """A key: for whom, for what, for how long."""

    name = forms.CharField(max_length=100, help_text="What will use it, for example “Claude Code on my laptop”.")
    agent = forms.ChoiceField(required=False)
    preset = forms.ChoiceField(choices=PRESETS, label="May do", initial="agent")
    expires = forms.ChoiceField(choices=EXPIRIES, required=False)
    banks = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    scopes = forms.MultipleChoiceField(
        required=False, choices=[(scope, scope) for scope in KeyScope], widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, banks: list[Bank], agents: list[Agent], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["banks"].choices = [(bank.slug, bank.name) for bank in banks]  # type: ignore[attr-defined]
        named = [(str(agent.pk), agent.name) for agent in agents]
        self.fields["agent"].choices = [("", "No agent of its own"), *named]  # type: ignore[attr-defined]

    def draft(self, held: frozenset[str]) -> dict[str, Any]:
        """The fields as create_key takes them; a preset gives no more than ``held``."""
        data = self.cleaned_data
        chosen = data["scopes"] if data["preset"] == "own" else SCOPES_FOR[data["preset"]]
        days = data["expires"]
        return {
            "name": data["name"],
            "scopes": [scope for scope in chosen if scope in held],
            "banks": data["banks"] or None,
            "agent": data["agent"] or None,
            "expires_at": now() + dt.timedelta(days=int(days)) if days else None,
        }

"""Webhooks in the browser: endpoints, what they were told, and everything a person can do about it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django import forms
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from banks.services.banks import list_banks
from memories.events import EventType
from memories.rules.happenings import family
from memories.rules.webhooks import URL_MAX, DeliveryState, WebhookState
from memories.rules.webhookwishes import WebhookChanges, WebhookDraft
from memories.services.deliveries import list_deliveries, redeliver, send_test
from memories.services.webhooks import (
    Issued,
    allow_private,
    create_webhook,
    delete_webhook,
    get_webhook,
    is_operator,
    list_webhooks,
    rotate_webhook_secret,
    update_webhook,
)
from memories.web.rows import State
from memoryhub.lib.clock import now
from memoryhub.lib.errors import FieldError, Invalid
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse, QueryDict

    from banks.access import Access
    from banks.models import Bank
    from memories.models import Delivery, Webhook
    from memories.web.requests import HubRequest

#: The page asks again by itself while an answer should come this soon.
SOON = dt.timedelta(seconds=30)
STATES = {
    WebhookState.ACTIVE: State("Active", "circle-check", "ok"),
    WebhookState.PAUSED: State("Paused", "ban"),
    WebhookState.BLOCKED: State("Waits for an operator", "lock", "warn"),
    WebhookState.DISABLED: State("Switched off", "triangle-alert", "bad"),
}
FAILING = State("Failing", "triangle-alert", "warn")
TOLD = {
    DeliveryState.WAITING: State("Waiting", "clock", "note"),
    DeliveryState.DELIVERED: State("Delivered", "circle-check", "ok"),
    DeliveryState.FAILED: State("Failed", "triangle-alert", "bad"),
}
WHY = {
    "gone": "The receiver answered 410: it is not there any more.",
    "failing": "It has not answered well for five days.",
    "key_ended": "Whoever made it may not listen any more: the key was revoked or has expired, or the person left. "
    "It goes on in your name.",
}
ERRORS = {
    "redirected": "It redirects; redirects are not followed.",
    "unreachable": "It cannot be reached.",
    "answer_too_slow": "It did not answer within ten seconds.",
    "answer_too_large": "Its answer was too long or compressed.",
    "address_refused": "Its name leads to an address the hub may not call.",
    "event_gone": "The event is no longer kept, or may not be heard any more.",
}
#: Whether it is one that an operator could allow is looked up only when it was ticked.
NOT_PUBLIC = "The address leads into a private network. Tick this if the service behind it is yours."


class WebhookForm(forms.Form):
    """What a person says about a new endpoint."""

    url = forms.CharField(
        label="Address", max_length=URL_MAX, widget=forms.URLInput({"placeholder": "https://example.org/hook"})
    )
    name = forms.CharField(required=False, max_length=100, help_text="Without one: the host.")
    types = forms.MultipleChoiceField(
        required=False, choices=[(one.value, one.value) for one in EventType], widget=forms.CheckboxSelectMultiple
    )
    banks = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    private = forms.BooleanField(required=False)

    def __init__(self, data: QueryDict | None, banks: list[Bank]) -> None:
        super().__init__(data)
        self.fields["banks"].choices = [(bank.slug, bank.name) for bank in banks]  # type: ignore[attr-defined]

    def draft(self) -> dict[str, Any]:
        """The fields in the shape of a draft."""
        said = self.cleaned_data
        return {**said, "name": said["name"] or None, "types": said["types"] or None, "banks": said["banks"] or None}


def webhooks(request: HubRequest) -> HttpResponse:
    """The vault's endpoints, and the form for one more."""
    form = WebhookForm(request.POST or None, list_banks(request.access))
    made = submitted(form, lambda: _create(request.access, form))
    if made is not None:
        return _page(request, made.webhook, made)
    rows = [{"webhook": one, "state": _state(one)} for one in list_webhooks(request.access)]
    context = {"rows": rows, "form": form}
    return answer_page(request, "memories/webhooks.html", context, status=422 if form.errors else 200)


def _create(access: Access, form: WebhookForm) -> Issued:
    """A new endpoint; that its address is private is said beside the tick for it."""
    try:
        return create_webhook(access, WebhookDraft.parse(form.draft()))
    except Invalid as error:
        if form.cleaned_data["private"] or all(one.code != "address_refused" for one in error.errors):
            raise
        raise Invalid(errors=[FieldError("/private", "address_refused", NOT_PUBLIC)]) from None


def _state(webhook: Webhook) -> State:
    failing = webhook.state == WebhookState.ACTIVE and webhook.failures
    return FAILING if failing else STATES[WebhookState(webhook.state)]


def webhook(request: HubRequest, webhook_id: UUID) -> HttpResponse:
    """One endpoint with what it was told."""
    return _page(request, get_webhook(request.access, webhook_id))


@sensitive_variables("issued")
def _page(request: HubRequest, found: Webhook, issued: Issued | None = None) -> HttpResponse:
    asked = request.GET.get("state", "")
    state = DeliveryState(asked) if asked in set(DeliveryState) else None
    page = list_deliveries(request.access, found.pk, state, cursor=request.GET.get("cursor") or None)
    names = {bank.pk: bank.name for bank in list_banks(request.access, include_hidden=True)}
    families: dict[str, list[str]] = {}
    for one in found.types:
        families.setdefault(family(one), []).append(one)
    context = {
        "webhook": found,
        "state": _state(found),
        "why": WHY.get(found.why, ""),
        "families": families,
        "banks": None if found.banks is None else [names.get(one, "a bank that is gone") for one in found.banks],
        "rows": [_row(one) for one in page.items],
        "tabs": [(None, "All"), *((one.value, TOLD[one].label) for one in DeliveryState)],
        "shown": state.value if state else None,
        "next_cursor": page.next_cursor,
        "secret": issued.secret if issued else None,
        "is_active": found.state == WebhookState.ACTIVE,
        "may_allow": found.state == WebhookState.BLOCKED and is_operator(request.access),
        "is_blocked": found.state == WebhookState.BLOCKED,
        "is_going": found.state == WebhookState.ACTIVE and any(_soon(one) for one in page.items),
        "here": f"{reverse('webhook', args=[found.pk])}?{request.GET.urlencode()}",
    }
    return answer_page(request, "memories/webhook.html", context, part="deliveries")


def _soon(delivery: Delivery) -> bool:
    """Whether its answer is worth waiting for at the page."""
    return delivery.state == DeliveryState.WAITING and delivery.due_at < now() + SOON


def _row(delivery: Delivery) -> dict[str, Any]:
    return {
        "delivery": delivery,
        "state": TOLD[DeliveryState(delivery.state)],
        "error": ERRORS.get(delivery.error, delivery.error),
        "waits": delivery.state == DeliveryState.WAITING,
    }


@require_POST
def switch(request: HubRequest, webhook_id: UUID) -> HttpResponse:
    """Pause it, or let it go on."""
    active = request.POST.get("active") == "1"
    update_webhook(request.access, webhook_id, WebhookChanges(active=active))
    say(request, "It goes on where it was." if active else "Paused. What happens meanwhile is told when it goes on.")
    return _back(webhook_id)


@require_POST
def test(request: HubRequest, webhook_id: UUID) -> HttpResponse:
    """Send a test."""
    send_test(request.access, webhook_id)
    say(request, "A test is on its way; reload the page to see what it answered.")
    return _back(webhook_id)


@require_POST
@sensitive_variables("issued")
def rotate(request: HubRequest, webhook_id: UUID) -> HttpResponse:
    """Another secret, shown once."""
    issued = rotate_webhook_secret(request.access, webhook_id)
    return _page(request, issued.webhook, issued)


@require_POST
def allow(request: HubRequest, webhook_id: UUID) -> HttpResponse:
    """An operator allows its private address."""
    allow_private(request.access, webhook_id)
    say(request, "The hub may call this address now.")
    return _back(webhook_id)


@require_POST
def delete(request: HubRequest, webhook_id: UUID) -> HttpResponse:
    """Remove it."""
    delete_webhook(request.access, webhook_id)
    say(request, "The webhook and its deliveries are deleted.")
    return SeeOther(reverse("webhooks"))


@require_POST
def again(request: HubRequest, webhook_id: UUID, delivery_id: UUID) -> HttpResponse:
    """Send one again."""
    redeliver(request.access, webhook_id, delivery_id)
    say(request, "It is sent again, under the same id.")
    return _back(webhook_id)


def _back(webhook_id: UUID) -> HttpResponse:
    return SeeOther(reverse("webhook", args=[webhook_id]))

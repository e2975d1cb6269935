"""Endpoints that are told of events: made, changed, paused, given another secret, removed.

A secret is shown once, when it is made. Where an address leads is looked up before it is stored and again, pinned,
whenever it is called; a private address waits until an operator of the hub allows that endpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from banks.access import Access, KeyScope, mandate_of
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_banks
from memories.models import Webhook
from memories.rules.webhooks import OVERLAP, WebhookState, encoded_secret
from memories.rules.webhookwishes import WebhookChanges, WebhookDraft
from memories.search.events import audible
from memories.search.horizon import horizon
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import new_key
from memoryhub.lib.errors import Conflict, Denied, FieldError, Invalid, NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.net import AddressRefused, AnswerTooSlow, resolve, within

MOST = 20
_LOOKED_UP_WITHIN = 3.0
#: Why an endpoint is blocked.
PRIVATE = "private_address"
#: Why one is switched off: whoever made it may not listen any more.
ENDED = "key_ended"


class TooManyWebhooks(Conflict):
    """The vault has as many webhooks as it may; delete one that is not needed any more."""

    code = "too_many_webhooks"


class OperatorNeeded(Denied):
    """Only an operator of the hub (a superuser, or somebody at its terminal) may allow a private address."""

    code = "operator_needed"


@dataclass(frozen=True, slots=True)
class Issued:
    """A webhook with the secret that was just made for it."""

    webhook: Webhook
    secret: str


def create_webhook(access: Access, draft: WebhookDraft) -> Issued:
    """A new endpoint, told of everything from now on, and its secret, this once. Needs webhooks:admin.

    It hears no more than whoever makes it. A private address is refused unless ``private`` is said; then the endpoint
    waits for an operator. Raises Invalid, MissingScope, UnknownBank, TooManyWebhooks.
    """
    access.require(KeyScope.WEBHOOKS_ADMIN)
    is_private = _leads_to_private(draft.url, wished=draft.private)
    secret = encoded_secret(new_key())
    with transaction.atomic():
        if Webhook.objects.filter(vault_id=access.vault_id).count() >= MOST:
            raise TooManyWebhooks
        webhook = Webhook.objects.create(
            vault_id=access.vault_id,
            name=draft.name or str(urlsplit(draft.url).hostname),
            url=draft.url,
            secret=secret,
            types=sorted(audible(access, draft.types or ())),
            banks=_banks(access, draft.banks),
            is_private=is_private,
            state=(WebhookState.BLOCKED if is_private else WebhookState.ACTIVE).value,
            why=PRIVATE if is_private else "",
            mandate=mandate_of(access),
            position=horizon.look().drawn,
        )
        record_audit(access, Audited("create_webhook", "webhook", webhook.pk))
    return Issued(webhook, secret)


def _banks(access: Access, names: list[str] | None) -> list[UUID] | None:
    return None if names is None else [UUID(str(bank.pk)) for bank in find_banks(access, names)]


def _leads_to_private(url: str, *, wished: bool) -> bool:
    """Whether it is a private address, which was asked for. Raises Invalid for one nobody may call."""
    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with within(_LOOKED_UP_WITHIN):
            resolve(host, port, allow_private=False)
    except AddressRefused as refused:
        if not wished or not _may_be_allowed(host, port):
            if_own = "If it is your own, say so (`private`); an operator must then allow it on the webhook's page."
            said = f"{refused.message} {if_own}"
            raise Invalid(errors=[FieldError("/url", "address_refused", said)]) from None
        return True
    except (OSError, AnswerTooSlow):
        raise Invalid(errors=[FieldError("/url", "unresolvable", f"{host} does not lead anywhere")]) from None
    return False


def _may_be_allowed(host: str, port: int) -> bool:
    """Whether an operator could allow it: never the addresses of a cloud's own services."""
    try:
        with within(_LOOKED_UP_WITHIN):
            return bool(resolve(host, port, allow_private=True))
    except (AddressRefused, OSError, AnswerTooSlow):
        return False


def webhooks_of(access: Access) -> QuerySet[Webhook]:
    """Those the caller may manage: all, or only its own where it does not reach the whole vault."""
    rows = Webhook.objects.filter(vault_id=access.vault_id)
    if access.reaches_whole_vault:
        return rows
    return rows.filter(mandate__actor_kind=access.actor.kind, mandate__actor_id=access.actor.id)


def list_webhooks(access: Access) -> list[Webhook]:
    """Endpoints, newest first. Needs webhooks:admin."""
    access.require(KeyScope.WEBHOOKS_ADMIN)
    return list(webhooks_of(access).order_by("-created_at", "-pk"))


def get_webhook(access: Access, webhook_id: str | UUID) -> Webhook:
    """One endpoint. Needs webhooks:admin. Raises NotFound."""
    access.require(KeyScope.WEBHOOKS_ADMIN)
    return _found(access, webhook_id)


def _found(access: Access, webhook_id: str | UUID, *, lock: bool = False) -> Webhook:
    rows = webhooks_of(access)
    found = (rows.select_for_update() if lock else rows).filter(pk=parse_id(webhook_id)).first()
    if found is None:
        raise NotFound("There is no such webhook in this vault.")
    return found


def update_webhook(access: Access, webhook_id: str | UUID, changes: WebhookChanges) -> Webhook:
    """Change what ``changes`` names; ``active`` false pauses, true resumes where it was. Needs webhooks:admin.

    Another address forgets an operator's leave, and hears no more than whoever gave it; so does one that goes on after
    its maker's key ended. What it hears is changed by whoever may hear what it hears now. Raises NotFound, Invalid,
    MissingScope, UnknownBank.
    """
    access.require(KeyScope.WEBHOOKS_ADMIN)
    said = changes.model_dump(exclude_unset=True)
    is_private = _leads_to_private(said["url"], wished=bool(said.get("private"))) if said.get("url") else None
    with transaction.atomic():
        webhook = _found(access, webhook_id, lock=True)
        if said.get("name"):
            webhook.name = said["name"]
        if said.keys() & {"types", "banks"}:
            audible(access, webhook.types)  # or it would be made to hear less, and its secret asked for then
        if "types" in said:
            webhook.types = sorted(audible(access, said["types"] or []))
        if "banks" in said:
            webhook.banks = _banks(access, said["banks"])
        if is_private is not None and said["url"] != webhook.url:
            webhook.url, webhook.is_private, webhook.private_allowed = said["url"], is_private, False
            _take_over(access, webhook)
            _stand(webhook, paused=webhook.state == WebhookState.PAUSED)
        if said.get("active") and webhook.why == ENDED:
            _take_over(access, webhook)
        if said.get("active") is not None:
            _stand(webhook, paused=not said["active"])
        webhook.save()
        record_audit(access, Audited("update_webhook", "webhook", webhook.pk))
    return webhook


def _take_over(access: Access, webhook: Webhook) -> None:
    """Whoever says where it leads, or has it go on, hears it: no more of it than they may. Raises MissingScope."""
    webhook.mandate = mandate_of(access)
    webhook.types = sorted(audible(access, webhook.types))


def _stand(webhook: Webhook, *, paused: bool) -> None:
    """Blocked, paused or active, as it should be now; what went wrong before is forgiven when it is called again."""
    blocked = webhook.is_private and not webhook.private_allowed
    state = WebhookState.BLOCKED if blocked else WebhookState.PAUSED if paused else WebhookState.ACTIVE
    webhook.state, webhook.why = state.value, PRIVATE if blocked else ""
    if state is WebhookState.ACTIVE:
        webhook.failures, webhook.failing_since, webhook.rests_until = 0, None, None


def allow_private(access: Access, webhook_id: str | UUID) -> Webhook:
    """An operator lets the hub call this endpoint's private address. Raises OperatorNeeded, NotFound."""
    access.require(KeyScope.WEBHOOKS_ADMIN)
    if not is_operator(access):
        raise OperatorNeeded
    with transaction.atomic():
        webhook = _found(access, webhook_id, lock=True)
        webhook.private_allowed = True
        if webhook.state == WebhookState.BLOCKED:
            _stand(webhook, paused=False)
        webhook.save()
        record_audit(access, Audited("allow_private_webhook", "webhook", webhook.pk))
    return webhook


def is_operator(access: Access) -> bool:
    """Whether the caller runs the hub: a superuser, or somebody at its terminal; never a key."""
    if access.actor.kind == "system":
        return True
    return access.actor.kind == "user" and User.objects.filter(pk=access.actor.id, is_superuser=True).exists()


def rotate_webhook_secret(access: Access, webhook_id: str | UUID) -> Issued:
    """A new secret, shown this once; for a day both sign. Needs webhooks:admin, and the scopes to hear what it hears:
    who has the secret can speak as the hub. Raises NotFound, MissingScope.
    """
    access.require(KeyScope.WEBHOOKS_ADMIN)
    secret = encoded_secret(new_key())
    with transaction.atomic():
        webhook = _found(access, webhook_id, lock=True)
        audible(access, webhook.types)
        webhook.old_secret, webhook.old_until, webhook.secret = webhook.secret, now() + OVERLAP, secret
        webhook.save(update_fields=["secret", "old_secret", "old_until"])
        record_audit(access, Audited("rotate_webhook_secret", "webhook", webhook.pk))
    return Issued(webhook, secret)


def delete_webhook(access: Access, webhook_id: str | UUID) -> None:
    """Remove an endpoint with its deliveries. Needs webhooks:admin. Raises NotFound."""
    access.require(KeyScope.WEBHOOKS_ADMIN)
    with transaction.atomic():
        webhook = _found(access, webhook_id, lock=True)
        record_audit(access, Audited("delete_webhook", "webhook", webhook.pk))
        webhook.delete()


def disable(access: Access, webhook: Webhook, why: str) -> None:
    """Switch an endpoint off for good reason, in the running transaction; a person can switch it on again."""
    webhook.state, webhook.why = WebhookState.DISABLED.value, why
    record_audit(access, Audited("disable_webhook", "webhook", webhook.pk))

"""In whose name an endpoint listens, and until when."""

from __future__ import annotations

import datetime as dt

import pytest
from django.contrib.auth.models import User

from banks.access import access_from_user
from banks.models import Membership
from banks.services.keys import revoke_key, rotate_key
from memories.rules.webhookwishes import WebhookChanges, WebhookDraft
from memories.services.delivering import deliver_webhooks
from memories.services.webhooks import allow_private, create_webhook, get_webhook, update_webhook
from tests.factories import access_of, make_key, remember
from tests.receivers import receiver

pytestmark = pytest.mark.django_db
ADDED = ["memory.added"]


def test_it_hears_nothing_more_once_its_makers_key_is_revoked(access):
    """What a key was stolen for ends with it; a key that was rotated lives on in its successor."""
    with receiver() as it:
        key, secret = make_key(access)
        issued = create_webhook(access_of(secret), WebhookDraft.parse({"url": it.url, "types": ADDED, "private": True}))
        allow_private(access, issued.webhook.pk)
        successor, _ = rotate_key(access, key.pk, overlap=dt.timedelta(0))
        remember(access, "Told after the rotation.")
        deliver_webhooks(15.0)
        assert len(it.got) == 1
        revoke_key(access, successor.pk)
        remember(access, "Never told.")
        deliver_webhooks(1.5)
        assert len(it.got) == 1
        ended = get_webhook(access, issued.webhook.pk)
        assert (ended.state, ended.why) == ("disabled", "key_ended")
        update_webhook(access, ended.pk, WebhookChanges(active=True))
        deliver_webhooks(15.0)
        assert len(it.got) == 2
    assert get_webhook(access, ended.pk).mandate["actor_kind"] == "system"


def test_it_hears_nothing_more_once_its_maker_left(access, owner: User):
    """A person who is no member any more does not go on listening from outside."""
    with receiver() as it:
        alice = access_from_user(owner, access.vault_id, "r")
        issued = create_webhook(alice, WebhookDraft.parse({"url": it.url, "types": ADDED, "private": True}))
        allow_private(access, issued.webhook.pk)
        Membership.objects.filter(user=owner).delete()
        remember(access, "Never told.")
        deliver_webhooks(1.5)
        assert it.got == []
    assert get_webhook(access, issued.webhook.pk).why == "key_ended"

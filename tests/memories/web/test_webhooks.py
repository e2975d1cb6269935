"""Webhooks in the browser: everything by plain forms, the secret once, foreign text as text."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from memories.models import Delivery, Webhook
from memories.services.webhooks import get_webhook
from memoryhub.lib.clock import now
from tests.factories import make_webhook
from tests.receivers import receiver

pytestmark = pytest.mark.django_db


def test_an_endpoint_is_made_tested_paused_rotated_and_deleted(browser: Client, access: Access):
    """ux.md §2.9: the whole life of a webhook without JavaScript."""
    made = browser.post("/webhooks/", {"url": "https://93.184.216.34/hook", "types": ["memory.added"], "name": "Hook"})
    assert made.status_code == 200
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", made.content.decode())
    webhook = Webhook.objects.get(vault=access.vault)
    page = f"/webhooks/{webhook.pk}/"
    assert secret not in browser.get(page).content.decode()
    assert "Hook" in browser.get("/webhooks/").content.decode()
    assert browser.post(f"{page}test/").status_code == 303
    delivery = Delivery.objects.get(webhook=webhook)
    assert browser.post(f"{page}deliveries/{delivery.pk}/redeliver/").status_code == 303
    assert browser.post(f"{page}switch/", {"active": "0"}).status_code == 303
    assert get_webhook(access, webhook.pk).state == "paused"
    assert browser.post(f"{page}switch/", {"active": "1"}).status_code == 303
    assert secret not in browser.post(f"{page}rotate/").content.decode()
    assert browser.get(f"{page}?state=failed").status_code == 200
    assert browser.post(f"{page}delete/").status_code == 303
    assert not Webhook.objects.filter(pk=webhook.pk).exists()


def test_what_a_receiver_said_is_text(browser: Client, access: Access):
    """Issue: foreign text is shown as text."""
    webhook = make_webhook(access)
    delivery = webhook.deliveries.get()
    delivery.answer, delivery.status, delivery.attempts = "<script>alert(1)</script>", 500, 1
    delivery.save()
    html = browser.get(f"/webhooks/{webhook.pk}/").content.decode()
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert" not in html


def test_a_private_address_needs_a_superuser(browser: Client, owner: User, access: Access):
    """Issue: private addresses are refused unless an operator allows that endpoint."""
    with receiver() as it:
        refused = browser.post("/webhooks/", {"url": it.url})
        assert refused.status_code == 422
        assert "Tick this if the service behind it is yours" in refused.content.decode()
        assert "`" not in refused.content.decode()
        browser.post("/webhooks/", {"url": it.url, "private": "on"})
        webhook = Webhook.objects.get(vault=access.vault)
        page = f"/webhooks/{webhook.pk}/"
        assert "Allow this address" not in browser.get(page).content.decode()
        assert browser.post(f"{page}allow/").status_code == 403
        User.objects.filter(pk=owner.pk).update(is_superuser=True)
        assert "Allow this address" in browser.get(page).content.decode()
        assert browser.post(f"{page}allow/").status_code == 303
        assert get_webhook(access, webhook.pk).state == "active"


def test_pages_are_cheap_and_closed_to_others(browser: Client, access: Access, other_access: Access, viewer: User):
    """≤ 15 queries; another vault's is unknown; a viewer has no such place."""
    webhook, foreign = make_webhook(access), make_webhook(other_access)
    assert browser.get(f"/webhooks/{foreign.pk}/").status_code == 404
    assert browser.get(f"/webhooks/{webhook.pk}/").status_code == 200
    bob = Client()
    bob.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert bob.get("/webhooks/").status_code == 403


def test_pages_run_few_queries(browser: Client, access: Access, django_assert_max_num_queries):
    webhook = make_webhook(access)
    for address in ("/webhooks/", f"/webhooks/{webhook.pk}/"):
        browser.get(address)
        with django_assert_max_num_queries(15):
            browser.get(address)


def test_the_page_waits_for_an_answer_that_comes_soon(browser: Client, access: Access):
    """It asks again by itself, for the deliveries alone, until the answer is there; a try of tomorrow it leaves be."""
    webhook = make_webhook(access)
    page, delivery = f"/webhooks/{webhook.pk}/", webhook.deliveries.get()
    asks = f'hx-get="{page}?"'
    assert asks in browser.get(page).content.decode()
    part = browser.get(page, headers={"HX-Request": "true", "HX-Target": "deliveries"}).content.decode()
    assert asks in part
    assert "Signing secret" not in part
    delivery.due_at = now() + dt.timedelta(hours=1)
    delivery.save()
    assert asks not in browser.get(page).content.decode()


def test_a_delivery_sent_again_keeps_its_last_answer(browser: Client, access: Access):
    """Neither is it said that nothing was sent yet, nor that one failure were the first of several."""
    webhook = make_webhook(access)
    Delivery.objects.filter(webhook=webhook).update(status=500, attempts=0, took_ms=1234)
    Webhook.objects.filter(pk=webhook.pk).update(failures=1, failing_since=now())
    html = browser.get(f"/webhooks/{webhook.pk}/").content.decode()
    assert "in 1.2 s" in html
    assert "not sent yet" not in html
    assert "The last call went wrong, <time" in html

"""The ledger of model calls and the guard in the browser."""

from __future__ import annotations

import pytest
from django.test import Client

from banks.access import Access
from banks.models import Vault
from memories.calls.guarding import ask_permit, note_error
from memories.models import ModelCall
from memories.rules.vocabulary import GuardedService
from memoryhub.providers.base import ProviderError
from tests.factories import remember

pytestmark = pytest.mark.django_db


def call(vault: Vault, **more: object) -> ModelCall:
    given = {"purpose": "rerank", "provider": "openai", "model": "qwen", "result": "ok", "took_ms": 1234.0, **more}
    return ModelCall.objects.create(vault=vault, **given)


def open_guard(access: Access) -> None:
    for _ in range(5):
        permit = ask_permit(access, GuardedService.CHAT)
        note_error(access, permit, ProviderError("The model answered 500."))


def test_every_call_with_its_cost_or_its_reason(browser: Client, vault: Vault):
    call(vault, tokens_in=12_345, tokens_out=67)
    call(vault, result="skipped", reason="all_relevant", provider="", model="")
    call(vault, result="error", reason="provider", detail="The model answered 500.")
    html = browser.get("/activity/model-calls/").content.decode()
    for shown in ("12,345, 67", "1.2 s", "qwen", "The best were near enough already", "The model answered 500."):
        assert shown in html
    skipped = browser.get("/activity/model-calls/?result=skipped").content.decode()
    assert "qwen" not in skipped
    assert "near enough" in skipped
    for nonsense in ("?result=nonsense", "?before=nonsense"):
        assert browser.get(f"/activity/model-calls/{nonsense}").status_code == 200


def test_another_vaults_calls_are_not_shown(browser: Client, other_vault: Vault):
    call(other_vault, model="elsewhere")
    html = browser.get("/activity/model-calls/").content.decode()
    assert "elsewhere" not in html
    assert "No language model is configured" in html


def test_it_has_pages(browser: Client, vault: Vault):
    calls = [call(vault, model=f"model-{n:02}") for n in range(51)]
    first = browser.get("/activity/model-calls/").content.decode()
    assert "model-00" not in first
    rest = browser.get(f"/activity/model-calls/?before={calls[1].pk}").content.decode()
    assert "model-00" in rest
    assert "model-01" not in rest


def test_the_guard_is_seen_and_reset(browser: Client, access: Access):
    """GRD-14, UI-05."""
    remember(access, "A vault that is in use.")
    assert "Error guard of the" not in browser.get("/").content.decode()
    open_guard(access)
    assert "Error guard of the" in browser.get("/").content.decode()
    system = browser.get("/system/").content.decode()
    assert "Paused: nothing is asked" in system
    assert "The model answered 500." in system
    after = browser.post("/system/guard/reset/", follow=True).content.decode()
    assert "Paused: nothing is asked" not in after
    assert "reset the error guards" in browser.get("/activity/").content.decode().replace("</b>", "").replace("\n", " ")


def test_a_viewer_cannot_reset_it(access: Access, viewer):
    client = Client()
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    open_guard(access)
    assert client.post("/system/guard/reset/").status_code == 403

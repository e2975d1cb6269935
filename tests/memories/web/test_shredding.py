"""Shredding a vault in the browser: its name and the password; the receipt outlives the vault, for its owners."""

from __future__ import annotations

from html import unescape

import pytest

from banks.models import VaultKey
from memories.models import ErasureReceipt
from tests.conftest import PASSWORD
from tests.factories import remember

pytestmark = pytest.mark.django_db
PAGE = "/system/shred/"
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"


def page(answer) -> str:
    assert answer.status_code == 200
    return unescape(answer.content.decode())


@pytest.mark.parametrize(("name", "password"), [("home", PASSWORD), ("Home", "wrong"), ("Home", ""), ("", PASSWORD)])
def test_neither_a_slip_nor_a_borrowed_browser(browser, access, name: str, password: str):
    """CON-17, ASVS 7.5.3."""
    assert browser.post(PAGE, {"name": name, "password": password}).status_code == 422
    assert VaultKey.objects.filter(vault=access.vault).exists()


def test_the_receipt_is_there_without_the_vault(browser, access, client, viewer):
    """CON-17, DEF-10."""
    remember(access, "the canary sings")
    assert PAGE in page(browser.get("/system/"))
    assert "What goes, what stays" in page(browser.get(PAGE))
    done = browser.post(PAGE, {"name": access.vault.name, "password": PASSWORD})
    assert done["Location"] == f"/shredded/{ErasureReceipt.objects.get().pk}/"
    assert not VaultKey.objects.filter(vault=access.vault).exists()
    assert browser.get("/").status_code == 404
    shown = page(browser.get(done["Location"]))
    assert "Signed by this hub" in shown
    assert f"“{access.vault.name}” is shredded" in shown
    assert client.get(done["Location"])["Location"].startswith("/accounts/login/")
    client.force_login(viewer, backend=LOGIN)
    assert client.get(done["Location"]).status_code == 404


def test_only_an_owner(client, access, viewer):
    client.force_login(viewer, backend=LOGIN)
    assert PAGE not in page(client.get("/system/"))
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, {"name": access.vault.name, "password": PASSWORD}).status_code == 403
    assert VaultKey.objects.filter(vault=access.vault).exists()

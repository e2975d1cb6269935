"""Banks, agents and keys in the browser."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access, access_from_secret
from banks.access.secret import InvalidKey
from banks.models import Agent, ApiKey, Bank, Membership, Vault
from tests.factories import make_key, remember

pytestmark = pytest.mark.django_db
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"


def text(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_banks_are_cards_with_counts(browser: Client, access: Access):
    remember(access, "One.", bank="Work")
    remember(access, "Two.", bank="Work")
    html = text(browser, "/banks/")
    assert re.search(r'href="/memories/\?bank=work"><span class="num">2</span> memories', html)


def test_a_bank_is_made_renamed_hidden_and_shown(browser: Client, vault: Vault):
    """BNK-02, BNK-13: kept as written."""
    made = browser.post("/banks/", {"name": "  Home   Lab ", "description": "Machines"})
    assert (made.status_code, made["Location"]) == (303, "/banks/home-lab/")
    browser.post("/banks/home-lab/", {"name": "Home Lab 2", "description": "Servers"})
    bank = Bank.objects.get(vault=vault, slug="home-lab")
    assert (bank.name, bank.description) == ("Home Lab 2", "Servers")
    hidden = browser.post("/banks/home-lab/hide/", follow=True).content.decode()
    assert "is hidden" in hidden
    assert "Undo" in hidden
    browser.post("/banks/home-lab/show/")
    bank.refresh_from_db()
    assert not bank.is_hidden


def test_what_a_bank_cannot_be_is_said_beside_the_field(browser: Client, vault: Vault):
    taken = browser.post("/banks/", {"name": "work"})
    assert taken.status_code == 422
    assert "already there" in taken.content.decode()
    too_long = browser.post("/banks/", {"name": "x" * 51})
    assert too_long.status_code == 422
    assert 'aria-invalid="true"' in too_long.content.decode()
    default = browser.post("/banks/general/hide/", follow=True)
    assert "cannot be hidden" in default.content.decode()


def test_an_agent_has_a_default_bank(browser: Client, vault: Vault):
    """UI-03, BNK-08, BNK-12."""
    sent = {"name": "claude-code", "default_bank": "work", "trust_ceiling": "stated",
            "preferred_banks": ["work", "general"], "is_isolated": "on"}  # fmt: skip
    assert browser.post("/agents/", sent).status_code == 303
    agent = Agent.objects.get(vault=vault)
    assert (agent.default_bank.name, agent.is_isolated, agent.trust_ceiling) == ("Work", True, "stated")
    assert {bank.name for bank in agent.preferred_banks.all()} == {"Work", "General"}
    assert '<option value="work" selected>' in text(browser, f"/agents/{agent.pk}/")
    browser.post(f"/agents/{agent.pk}/", {"name": "claude-code", "default_bank": "", "trust_ceiling": "verified"})
    agent.refresh_from_db()
    assert (agent.default_bank, agent.is_isolated, agent.preferred_banks.count()) == (None, False, 0)


def test_a_key_is_shown_once_and_works(browser: Client, vault: Vault):
    """The secret is in one answer, never in the session and never again."""
    made = browser.post("/keys/", {"name": "laptop", "preset": "agent", "expires": "30", "banks": ["work"]})
    html = unescape(made.content.decode())
    secret = re.search(r"mh_live_\w{8}_\w{49}", html)
    assert secret
    assert "curl -s http://testserver/api/v1/whoami" in html
    access = access_from_secret(secret.group(), "r")
    assert access.vault_id == vault.pk
    assert access.bank_ids == frozenset({Bank.objects.get(vault=vault, slug="work").pk})
    assert "memories:write" in access.scopes
    assert "keys:admin" not in access.scopes
    assert secret.group() not in text(browser, "/keys/")
    assert secret.group() not in str(dict(browser.session))


def test_a_key_is_rotated_and_revoked(browser: Client, access: Access):
    key, old = make_key(access, name="robot")
    rotated = browser.post(f"/keys/{key.pk}/rotate/").content.decode()
    assert "The old secret ends <time" in rotated
    new = re.search(r"mh_live_\w{8}_\w{49}", rotated)
    assert new
    assert access_from_secret(old, "r").vault_id == key.vault_id, "the old one works for another day"
    successor = ApiKey.objects.get(rotated_from=key)
    assert browser.post(f"/keys/{successor.pk}/revoke/").status_code == 303
    with pytest.raises(InvalidKey):
        access_from_secret(new.group(), "r")
    assert "no longer work" in text(browser, "/keys/")


def test_roles_decide_what_is_offered_and_done(viewer: User, vault: Vault):
    client = Client()
    client.force_login(viewer, backend=LOGIN)
    assert "New bank" not in text(client, "/banks/")
    assert client.post("/banks/", {"name": "Mine"}).status_code == 403
    assert client.get("/keys/").status_code == 403
    assert "/keys/" not in re.findall(r'href="([^"]+)"', text(client, "/"))


def test_a_person_with_two_vaults_chooses_one(browser: Client, owner: User, other_access: Access, stranger: User):
    remember(other_access, "Only elsewhere.")
    foreign = browser.post("/preferences/vault/", {"vault": str(other_access.vault_id)})
    assert foreign.status_code == 404, "not a member yet"
    Membership.objects.create(vault=other_access.vault, user=owner, role="viewer")
    browser.post("/preferences/vault/", {"vault": str(other_access.vault_id)})
    assert "Only elsewhere." in text(browser, "/memories/")
    Membership.objects.filter(vault=other_access.vault, user=owner).delete()
    assert "Only elsewhere." not in text(browser, "/memories/"), "back in the vault that is left"


def test_the_theme_is_remembered_and_read_on_the_server(browser: Client, vault: Vault):
    response = browser.post("/preferences/theme/", {"theme": "dark", "next": "/banks/"})
    assert (response.status_code, response["Location"]) == (303, "/banks/")
    assert 'data-theme="dark"' in text(browser, "/banks/")
    browser.post("/preferences/theme/", {"theme": "<script>"})
    assert "data-theme" not in text(browser, "/banks/")

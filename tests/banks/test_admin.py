"""Keys and memberships in the admin: what is done there is audited like anything else."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access, access_from_secret
from banks.access.secret import InvalidKey
from banks.models import AuditEntry, Membership
from tests.factories import make_key

pytestmark = pytest.mark.django_db
LOGIN = "allauth.account.auth_backends.AuthenticationBackend"


@pytest.fixture
def office(access: Access) -> Client:
    root = User.objects.create_superuser("root", password="x" * 16)
    Membership.objects.create(vault=access.vault, user=root, role="owner")
    client = Client()
    client.force_login(root, backend=LOGIN)
    return client


def test_a_key_is_revoked_at_once(office: Client, access: Access):
    key, secret = make_key(access, name="robot")
    assert secret not in office.get("/admin/banks/apikey/").content.decode()
    office.post("/admin/banks/apikey/", {"action": "revoke", "_selected_action": [str(key.pk)]})
    with pytest.raises(InvalidKey):
        access_from_secret(secret, "r")


def test_a_new_member_is_written_down(office: Client, access: Access, stranger: User):
    sent = {"vault": str(access.vault_id), "user": str(stranger.pk), "role": "viewer"}
    assert office.post("/admin/banks/membership/add/", sent).status_code == 302
    membership = Membership.objects.get(user=stranger)
    entry = AuditEntry.objects.filter(action="add_member").get()
    assert (entry.vault_id, entry.target_id, entry.actor_kind) == (access.vault_id, membership.pk, "user")
    office.post(f"/admin/banks/membership/{membership.pk}/delete/", {"post": "yes"})
    assert not Membership.objects.filter(user=stranger).exists()
    assert AuditEntry.objects.filter(action="remove_member").exists()


def test_digests_are_never_shown(office: Client, access: Access):
    key, _ = make_key(access, name="robot")
    html = office.get(f"/admin/banks/apikey/{key.pk}/change/").content.decode()
    assert "digest" not in html.lower()

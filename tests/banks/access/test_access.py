"""``Access``: who gets one, what it may do, and that it opens one vault and no other."""

from __future__ import annotations

import datetime as dt

import pytest
from django.contrib.auth.models import User

from banks.access import (
    ALL_SCOPES,
    ROLE_SCOPES,
    InvalidKey,
    KeyScope,
    access_from_secret,
    access_from_user,
    system_access,
    vaults_of,
)
from banks.access.access import MissingScope
from banks.models import ApiKey, Membership, VaultKey
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from banks.services.keys import revoke_key
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import CryptoError
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import VaultLocked, gate
from tests.factories import access_of, make_key, remember


def test_a_key_opens_its_vault_and_no_other(access, other_vault):
    """ENC-19: the vault of the key is unlocked, and only that."""
    remember(access, "secret")
    _, secret = make_key(access)
    with gate.session():
        caller = access_of(secret)
        assert caller.vault_id == access.vault_id
        assert gate.keys_for(access.vault_id) == caller.keys
        with pytest.raises(VaultLocked):
            gate.keys_for(other_vault.pk)


def test_a_key_carries_its_scopes_agent_and_banks(access):
    """BNK-02: exactly what it was given; no banks named means every bank."""
    agent = create_agent(access, AgentDraft.parse({"name": "scribe"}))
    _, secret = make_key(access, frozenset({KeyScope.MEMORIES_READ}), agent=agent.pk, banks=["Work", "health"])
    caller = access_of(secret)
    assert caller.scopes == {"memories:read"}
    assert (caller.agent, caller.agent_id) == (agent, str(agent.pk))
    assert caller.bank_ids == frozenset(ApiKey.objects.get(pk=caller.actor.id).banks.values_list("pk", flat=True))
    assert len(caller.bank_ids or ()) == 2
    assert access_of(make_key(access)[1]).bank_ids is None


def test_a_key_that_lost_its_last_bank_reaches_none(access):
    """BNK-02: no bank left is not the same as no limit."""
    key, secret = make_key(access, banks=["Work"])
    key.banks.clear()
    caller = access_of(secret)
    assert caller.bank_ids == frozenset()
    assert not caller.may_use_bank(access.vault.banks.first().pk)


SPOILED = {
    "empty": lambda secret: "",
    "cut": lambda secret: secret[:-1],
    "longer": lambda secret: secret + "0",
    "wrong checksum": lambda secret: secret[:-1] + ("0" if secret[-1] != "0" else "1"),
    "another prefix": lambda secret: secret.replace("mh_live_", "mh_test_"),
    "with a space": lambda secret: f" {secret}",
    "with a line": lambda secret: f"{secret}\n",
    "digits that are no ASCII": lambda secret: secret[:8] + "٣" + secret[9:],
    "NUL": lambda secret: secret[:-1] + "\x00",
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_misspelt_key_is_refused(secret, spoil):
    """API-17: one error for every way of being wrong, without asking the database first."""
    with pytest.raises(InvalidKey):
        access_from_secret(spoil(secret), "r")


def test_only_the_whole_secret_counts(access, secret):
    """API-17: the right id with the wrong secret, checksum and all, is refused."""
    _, other = make_key(access)
    key = ApiKey.objects.get(public_id=other[8:16])
    key.digest = b"\0" * 32
    key.save()
    for wrong in (other, make_key(access)[1][:0] or "mh_live_00000000_"):
        with pytest.raises(InvalidKey):
            access_from_secret(wrong, "r")
    assert access_from_secret(secret, "r").vault_id == access.vault_id


def test_a_revoked_key_is_refused_at_once(access):
    """API-17: the next request with it fails."""
    key, secret = make_key(access)
    access_of(secret)
    revoke_key(access, key.pk)
    with pytest.raises(InvalidKey):
        access_of(secret)


def test_an_expired_key_is_refused(access):
    """API-17: to the moment."""
    key, secret = make_key(access, expires_at=(now() + dt.timedelta(hours=1)).isoformat())
    access_of(secret)
    ApiKey.objects.filter(pk=key.pk).update(expires_at=now() - dt.timedelta(microseconds=1))
    with pytest.raises(InvalidKey):
        access_of(secret)


def test_the_secret_is_not_stored(access):
    """ENC-21: the row could be published."""
    key, secret = make_key(access)
    row = ApiKey.objects.get(pk=key.pk)
    assert len(bytes(row.digest)) == 32
    for value in row.__dict__.values():
        assert secret[17:60] not in str(value)
        assert secret[17:60].encode() not in (bytes(value) if isinstance(value, memoryview | bytes) else b"")
    assert secret not in repr(access_of(secret))


def test_use_is_noted_but_not_every_time(access):
    """GEN-04: once a minute is enough, and the hot path writes nothing in between."""
    key, secret = make_key(access)
    access_of(secret)
    first = ApiKey.objects.get(pk=key.pk).last_used_at
    access_of(secret)
    assert first is not None
    assert ApiKey.objects.get(pk=key.pk).last_used_at == first
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=first - dt.timedelta(minutes=2))
    access_of(secret)
    last = ApiKey.objects.get(pk=key.pk).last_used_at
    assert last is not None
    assert last > first


@pytest.mark.parametrize("role", ["owner", "editor", "viewer"])
def test_a_person_has_the_scopes_of_their_role(vault, role):
    """STA-10: viewers read, editors curate, owners everything."""
    user = User.objects.create_user("u")
    Membership.objects.create(vault=vault, user=user, role=role)
    access = access_from_user(user, vault.pk, "r")
    assert access.scopes == ROLE_SCOPES[role]
    assert access.has(KeyScope.MEMORIES_READ)
    assert access.has(KeyScope.MEMORIES_APPROVE) == (role != "viewer")
    assert access.has(KeyScope.KEYS_ADMIN) == (role == "owner")
    assert (access.actor.kind, access.agent, access.bank_ids) == ("user", None, None)


def test_a_foreign_vault_looks_like_an_unknown_one(vault, other_vault, owner, stranger):
    """SUP-07: same error, same words, whether the vault exists or not."""
    sentences = set()
    for user, vault_id in [(owner, other_vault.pk), (owner, new_id()), (stranger, vault.pk), (stranger, None)]:
        with pytest.raises(NotFound) as caught:
            access_from_user(user, vault_id, "r")
        sentences.add(caught.value.message)
    assert len(sentences) == 1
    assert vaults_of(owner) == [vault]
    assert vaults_of(stranger) == []


def test_a_dismissed_person_gets_nothing(vault, owner):
    """STA-10: deactivated accounts lose their vaults at once."""
    owner.is_active = False
    owner.save()
    assert vaults_of(owner) == []
    with pytest.raises(NotFound):
        access_from_user(owner, vault.pk, "r")


def test_missing_scopes_are_named(access):
    """API-17: the answer says which scope to ask for."""
    _, secret = make_key(access, frozenset({KeyScope.MEMORIES_READ}))
    with pytest.raises(MissingScope) as caught:
        access_of(secret).require(KeyScope.MEMORIES_READ, KeyScope.EXPORT, KeyScope.IMPORT)
    assert caught.value.extra == {"missing_scopes": ["export", "import"]}
    assert "export, import" in caught.value.message


def test_the_hub_itself_may_everything_in_one_vault(vault):
    """DESIGN law 2: jobs act with an Access too, and an unknown vault has none."""
    access = system_access(vault.pk)
    assert (access.scopes, access.actor.kind) == (ALL_SCOPES, "system")
    with pytest.raises(NotFound):
        system_access(new_id())


def test_a_vault_whose_key_was_destroyed_stays_shut(access, secret):
    """ENC-18: deleting the data key is crypto-shredding; nobody gets in any more."""
    VaultKey.objects.filter(vault=access.vault).delete()
    with pytest.raises(CryptoError) as caught:
        access_of(secret)
    assert caught.value.code == "vault_shredded"


def test_keys_are_not_printed(access):
    """ENC-21: an Access in a traceback shows no key."""
    assert access.keys.index.hex() not in repr(access)
    assert "VaultKeys" not in repr(access)

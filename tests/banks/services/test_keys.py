"""Keys: no wider than who makes them, shown once, rotated with an overlap, revoked at once."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import ALL_SCOPES, Access, InvalidKey, KeyScope, WholeVaultNeeded
from banks.access.access import MissingScope
from banks.models import ApiKey, AuditEntry
from banks.services.agents import UnknownAgent
from banks.services.banks import UnknownBank, create_bank, update_bank
from banks.services.drafts import BankChanges, BankDraft, KeyDraft
from banks.services.keys import (
    OVERLAP,
    KeyNotLive,
    WiderThanCreator,
    create_key,
    get_key,
    list_keys,
    revoke_key,
    rotate_key,
)
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import access_of, make_key


def key(access: Access, *scopes: str, **more: object) -> Access:
    return access_of(create_key(access, KeyDraft.parse({"name": "k", "scopes": list(scopes), **more}))[1])


def test_nobody_hands_on_more_than_he_holds(access):
    """API-17: scopes, and banks."""
    admin = key(access, "keys:admin", "memories:read", banks=["Work"])
    assert key(admin, "memories:read").bank_ids == admin.bank_ids
    with pytest.raises(WiderThanCreator) as caught:
        key(admin, "memories:read", "memories:erase", "export")
    assert caught.value.extra == {"scopes": ["export", "memories:erase"]}
    with pytest.raises(UnknownBank):
        key(admin, "memories:read", banks=["Health"])
    with pytest.raises(UnknownAgent):
        key(admin, "memories:read", agent="nobody")
    with pytest.raises(MissingScope):
        key(key(access, "memories:read"), "memories:read")


def test_a_limited_admin_does_not_rotate_a_wider_key(access):
    """API-17: nor one that reaches banks the admin does not: its secret would be handed to him."""
    wide, _ = make_key(access)
    elsewhere, _ = make_key(access, frozenset({KeyScope.MEMORIES_READ}), banks=["Health"])
    everywhere, _ = make_key(access, frozenset({KeyScope.MEMORIES_READ}))
    admin = key(access, "keys:admin", "memories:read", banks=["Work"])
    for target in (wide, elsewhere, everywhere):
        for verb in (rotate_key, revoke_key, get_key):
            with pytest.raises(NotFound):
                verb(admin, target.pk)
    own, _ = make_key(access, frozenset({KeyScope.MEMORIES_READ}), banks=["Work"])
    assert access_of(rotate_key(admin, own.pk)[1]).bank_ids == admin.bank_ids


def test_a_rotated_key_and_its_successor_overlap(access):
    """API-17: both work for a day, then only the new one; rights are the same."""
    old, secret = make_key(access, frozenset({KeyScope.MEMORIES_READ}), banks=["Work"])
    new, successor = rotate_key(access, old.pk)
    assert access_of(secret).scopes == access_of(successor).scopes == {"memories:read"}
    assert access_of(secret).bank_ids == access_of(successor).bank_ids
    old.refresh_from_db()
    assert old.expires_at is not None
    assert abs(old.expires_at - now() - OVERLAP) < dt.timedelta(minutes=1)
    assert new.rotated_from_id == old.pk
    ApiKey.objects.filter(pk=old.pk).update(expires_at=now())
    with pytest.raises(InvalidKey):
        access_of(secret)
    assert access_of(successor).has(KeyScope.MEMORIES_READ)


def test_what_has_ended_is_not_rotated(access):
    """API-17: a revoked key comes back to life in no way; revoking twice is fine."""
    revoked, _ = make_key(access)
    first = revoke_key(access, revoked.pk).revoked_at
    assert revoke_key(access, revoked.pk).revoked_at == first
    expired, _ = make_key(access)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=now())
    for ended in (revoked, expired):
        with pytest.raises(KeyNotLive):
            rotate_key(access, ended.pk)


def test_a_key_has_one_successor(access):
    """API-17: a second rotation is a conflict until that successor is revoked, which leaves the old key as it was."""
    old, secret = make_key(access)
    first, _ = rotate_key(access, old.pk)
    with pytest.raises(KeyNotLive, match="rotated already"):
        rotate_key(access, old.pk)
    revoke_key(access, first.pk)
    assert access_of(secret).has(KeyScope.KEYS_ADMIN)
    second, successor = rotate_key(access, old.pk)
    revoke_key(access, old.pk)
    assert access_of(successor).actor.id == str(second.pk)
    with pytest.raises(KeyNotLive):
        rotate_key(access, old.pk)


def test_a_key_that_ended_before_it_began_is_refused(access):
    """API-17: `expires_at` lies in the future; scopes are known and not empty."""
    mistakes: list[dict[str, object]] = [
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"scopes": []},
        {"scopes": ["root"]},
        {"name": ""},
        {"expires_at": 4_000_000_000},
        {"expires_at": "4000000000"},
        {"expires_at": "9999-12-31T23:59:59-23:00"},
        {"expires_at": "tomorrow"},
    ]
    for wrong in mistakes:
        with pytest.raises(Invalid):
            create_key(access, KeyDraft.parse({"name": "k", "scopes": ["memories:read"], **wrong}))


def test_keys_are_listed_without_their_secrets(access, other_access):
    """ENC-21: newest first, of this vault only."""
    secrets = [make_key(access, name=f"k{n}")[1] for n in range(3)]
    make_key(other_access)
    listed = list_keys(access)
    assert [one.name for one in listed] == ["k2", "k1", "k0"]
    for one, secret in zip(listed, reversed(secrets), strict=True):
        assert secret.startswith(one.prefix)
        assert secret not in str(one.__dict__)
    with pytest.raises(NotFound):
        get_key(access, list_keys(other_access)[0].pk)


def test_every_change_of_a_key_is_audited(access):
    """MIG-13: created, rotated, revoked."""
    old, _ = make_key(access)
    new, _ = rotate_key(access, old.pk)
    revoke_key(access, new.pk)
    actions = AuditEntry.objects.filter(target_kind="api_key").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["create_key", "rotate_key", "revoke_key"]
    assert access_of(make_key(access)[1]).scopes == ALL_SCOPES


def test_no_key_outlives_its_maker(access):
    """API-17: a key that ends makes none that goes on; without a word it ends with it."""
    ends = now() + dt.timedelta(days=1)
    maker = key(access, "keys:admin", "memories:read", expires_at=ends.isoformat())
    wish = {"name": "k", "scopes": ["memories:read"]}
    assert create_key(maker, KeyDraft.parse(wish))[0].expires_at == ends
    sooner = now() + dt.timedelta(hours=1)
    assert create_key(maker, KeyDraft.parse(wish | {"expires_at": sooner.isoformat()}))[0].expires_at == sooner
    with pytest.raises(WiderThanCreator):
        create_key(maker, KeyDraft.parse(wish | {"expires_at": (ends + dt.timedelta(hours=1)).isoformat()}))
    assert create_key(access, KeyDraft.parse(wish))[0].expires_at is None


def test_a_key_of_some_banks_changes_nothing_of_the_whole_vault(access):
    """BNK-02: no new bank, no other default, and no setting but of its own banks."""
    admin = key(access, "banks:admin", "settings:admin", "memories:read", banks=["Work"])
    with pytest.raises(WholeVaultNeeded):
        create_bank(admin, BankDraft(name="Mine"))
    with pytest.raises(WholeVaultNeeded):
        update_bank(admin, "work", BankChanges(is_default=True))
    assert update_bank(admin, "work", BankChanges(description="Own.")).description == "Own."

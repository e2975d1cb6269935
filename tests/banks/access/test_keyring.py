"""The master keys: a missing or a wrong one is noticed before anything is written, and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from banks.access import keyring
from banks.access.keyring import WrongKey, add_data_key, keys_of_vault
from banks.models import KeyCheck, VaultKey
from banks.services.keyring import verify_keys
from banks.services.vaults import create_vault
from memories.models import Memory
from memoryhub.env import Secrets, secrets
from memoryhub.lib.crypto import DecryptionError, UnknownKey, new_key
from tests.factories import make_vault, operator, remember

RIGHT = bytes(range(32))
type Restart = Callable[..., None]


@pytest.fixture
def restart(monkeypatch: pytest.MonkeyPatch) -> Iterator[Restart]:
    """Go on as a process that was started with other keys."""

    def with_keys(keys: Mapping[int, bytes], active: int) -> None:
        known = secrets()
        changed = Secrets(keys=keys, active=active, secret_key=known.secret_key, pepper=known.pepper)
        monkeypatch.setattr(keyring, "secrets", lambda: changed)
        forget()

    yield with_keys
    forget()


def forget() -> None:
    keyring.master_keys.cache_clear()
    keyring._unwrapped.cache_clear()


def test_the_right_keys_pass_and_are_remembered(vault):
    """ENC-14: the first start writes what to compare with; later ones compare."""
    verify_keys()
    verify_keys()
    assert list(KeyCheck.objects.values_list("id", flat=True)) == [1]
    assert RIGHT not in bytes(KeyCheck.objects.get().value)


def test_a_wrong_key_is_refused_by_its_id(vault, restart):
    """ENC-14, CON-01: before it writes anything."""
    verify_keys()
    restart({1: new_key()}, 1)
    with pytest.raises(WrongKey, match="key 1 is not the one"):
        verify_keys()


def test_a_missing_key_is_refused_by_its_id(vault, restart):
    """ENC-14: a key that wraps data must be there, active or not."""
    verify_keys()
    restart({2: new_key()}, 2)
    with pytest.raises(UnknownKey, match="key 1 is missing"):
        verify_keys()


def test_a_wrong_key_is_noticed_even_when_nothing_was_remembered(vault, restart):
    """ENC-14: a store restored without its checks must not take the wrong key for the right one."""
    KeyCheck.objects.all().delete()
    restart({1: new_key()}, 1)
    with pytest.raises(WrongKey, match="key 1"):
        verify_keys()
    assert not KeyCheck.objects.exists()


def test_a_wrong_key_seals_no_new_vault(vault, restart):
    """ENC-19: nothing is written with a key the store was not made with."""
    verify_keys()
    restart({1: new_key()}, 1)
    with pytest.raises(WrongKey):
        create_vault("Another")
    assert VaultKey.objects.count() == 1


def test_after_a_rotation_old_vaults_open_and_new_ones_use_the_new_key(vault, restart):
    """ENC-18: add key 2, make it active: nothing is re-sealed, nothing is lost."""
    memory = remember(operator(vault), "before the rotation")
    verify_keys()
    restart({1: RIGHT, 2: new_key()}, 2)
    verify_keys()
    operator(vault)
    assert Memory.objects.get(pk=memory.pk).content == "before the rotation"
    newer = make_vault("Newer")
    assert dict(VaultKey.objects.values_list("vault", "master_key_id")) == {vault.pk: 1, newer.pk: 2}


def test_a_key_that_wraps_nothing_may_go(vault, restart):
    """ENC-18: once nothing hangs on it, a retired key need not be kept."""
    restart({1: RIGHT, 2: new_key()}, 1)
    verify_keys()
    restart({1: RIGHT}, 1)
    verify_keys()


def test_a_wrapped_key_moved_to_another_vault_does_not_unwrap(vault, other_vault):
    """ENC-18: a data key is bound to its vault."""
    theirs = VaultKey.objects.get(vault=other_vault)
    theirs.wrapped = VaultKey.objects.get(vault=vault).wrapped
    theirs.save()
    with pytest.raises(DecryptionError):
        keys_of_vault(other_vault.pk)


def test_a_new_data_key_seals_and_the_old_one_reads(vault):
    """ENC-18: both versions are open at once, and each row names its own."""
    old = remember(operator(vault), "old")
    add_data_key(vault, version=2)
    new = remember(operator(vault), "new")
    assert keys_of_vault(vault.pk).active == 2
    assert {Memory.objects.get(pk=row.pk).content for row in (old, new)} == {"old", "new"}


def test_two_vaults_never_share_a_key(vault, other_vault):
    """CON-07: another vault's identical word has a different token, hash and ciphertext key."""
    ours, theirs = keys_of_vault(vault.pk), keys_of_vault(other_vault.pk)
    assert not {ours.index, ours.dedup, ours.audit, ours.content[1]} & {
        theirs.index,
        theirs.dedup,
        theirs.audit,
        theirs.content[1],
    }

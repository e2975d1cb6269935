"""Keys and ciphers: what is sealed opens only with the right key, the right context and every bit in place."""

from __future__ import annotations

import pytest

from memoryhub.lib.crypto import (
    NONCE_BYTES,
    OVERHEAD_BYTES,
    TAG_BYTES,
    CryptoError,
    DecryptionError,
    MasterKeys,
    UnknownKey,
    derive,
    key_version,
    keyed_hash,
    new_key,
    seal,
    unseal,
    vault_keys,
)

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
AAD = b"memories.memory/content"


@pytest.mark.parametrize("plain", [b"", b"x", "Grüße, 世界 🎉".encode(), b"\x00" * 16, bytes(100_000)])
def test_what_is_sealed_opens_exactly(plain: bytes):
    """ENC-04, ENC-10: the round trip is exact, and costs 35 bytes."""
    sealed = seal(KEY, 7, plain, AAD)
    assert unseal(KEY, sealed, AAD) == plain
    assert len(sealed) == len(plain) + OVERHEAD_BYTES == len(plain) + 35
    assert key_version(sealed) == 7


def test_the_same_text_never_gives_the_same_bytes():
    """CON-01: the nonce is random, so equal texts do not show."""
    sealed = {seal(KEY, 1, b"same", AAD) for _ in range(500)}
    assert len(sealed) == 500
    assert len({one[7 : 7 + NONCE_BYTES] for one in sealed}) == 500


def test_every_bit_counts():
    """ENC-18: whichever bit is flipped, header, nonce, text or tag, the value is refused and never half opened."""
    sealed = seal(KEY, 1, b"The safe is behind the painting.", AAD)
    for place in range(len(sealed) * 8):
        damaged = bytearray(sealed)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises(DecryptionError):
            unseal(KEY, bytes(damaged), AAD)


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(lambda sealed: b"", id="empty"),
        pytest.param(lambda sealed: sealed[:10], id="a stump"),
        pytest.param(lambda sealed: sealed[:-1], id="cut short"),
        pytest.param(lambda sealed: sealed + b"\0", id="made longer"),
        pytest.param(lambda sealed: sealed[: -TAG_BYTES - 1] + sealed[-TAG_BYTES:], id="a byte taken out"),
        pytest.param(lambda sealed: b"The text as it is, in the clear, and long enough", id="plain text"),
    ],
)
def test_what_is_not_an_envelope_is_refused(damaged):
    """ENC-14: damage is an error that can be told from content."""
    with pytest.raises(DecryptionError):
        unseal(KEY, damaged(seal(KEY, 1, b"text", AAD)), AAD)


def test_another_key_or_another_place_opens_nothing():
    """ENC-14, CON-01: the wrong key fails detectably, and so does the right key in the wrong place."""
    sealed = seal(KEY, 1, b"text", AAD)
    for key, aad in [(OTHER, AAD), (KEY, AAD + b"2"), (KEY, b"")]:
        with pytest.raises(DecryptionError):
            unseal(key, sealed, aad)


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_master_key_has_32_bytes(length: int):
    """ENC-18: anything else is refused by its id."""
    with pytest.raises(CryptoError, match=rf"key 3 has {length} bytes"):
        MasterKeys({3: bytes(length)}, active=3)


def test_the_active_key_must_be_there():
    """ENC-18: the sentence names the key id."""
    with pytest.raises(UnknownKey, match="active encryption key 9"):
        MasterKeys({1: KEY}, active=9)


def test_a_rotated_master_key_still_unwraps_what_the_old_one_wrapped():
    """ENC-18, CON-01: a new active key wraps; the old one reads on; once it is gone, its id is named."""
    data_key = new_key()
    wrapped = MasterKeys({1: KEY}, active=1).wrap(data_key, b"vault")
    both = MasterKeys({1: KEY, 2: OTHER}, active=2)
    assert both.unwrap(wrapped, b"vault") == data_key
    assert key_version(both.wrap(data_key, b"vault")) == 2
    with pytest.raises(UnknownKey, match="key 1 is missing"):
        MasterKeys({2: OTHER}, active=2).unwrap(wrapped, b"vault")
    with pytest.raises(DecryptionError):
        both.unwrap(wrapped, b"another vault")


def test_the_check_value_tells_keys_apart_and_not_what_they_are():
    """ENC-14: same key, same fingerprint; another key under the same id, another one."""
    right, wrong = MasterKeys({1: KEY}, active=1), MasterKeys({1: OTHER}, active=1)
    assert right.check_value(1) == MasterKeys({1: KEY, 2: OTHER}, active=2).check_value(1)
    assert right.check_value(1) != wrong.check_value(1)
    assert KEY not in right.check_value(1)


def test_sub_keys_are_all_different_and_none_is_the_data_key():
    """CON-07: content, index, duplicates and audit never share a key, and no two vaults share any."""
    first, second = vault_keys(((1, KEY),)), vault_keys(((1, OTHER),))
    keys = [key for one in (first, second) for key in (one.content[1], one.index, one.dedup, one.audit)]
    assert len({*keys, KEY, OTHER}) == len(keys) + 2
    assert derive(KEY, "content") == first.content[1]


def test_a_new_data_key_version_seals_and_the_old_one_still_opens():
    """ENC-18: what was sealed before the rotation opens after it; a version that is gone is named."""
    before, after = vault_keys(((1, KEY),)), vault_keys(((1, KEY), (2, OTHER)))
    sealed = before.seal(b"old", AAD)
    assert after.unseal(sealed, AAD) == b"old"
    assert key_version(after.seal(b"new", AAD)) == 2
    assert (after.index, after.dedup) == (before.index, before.dedup)
    with pytest.raises(UnknownKey, match="version 1"):
        vault_keys(((2, OTHER),)).unseal(sealed, AAD)


def test_keys_are_not_printed():
    """ENC-21: a key in a traceback or a log would end in somebody's ticket."""
    keys = vault_keys(((1, KEY),))
    assert keys.index.hex() not in repr(keys)
    assert repr(keys.index) not in repr(keys)


def test_the_keyed_hash_depends_on_the_key():
    """CON-07: the same word is another number in another vault."""
    assert keyed_hash(KEY, b"tea") != keyed_hash(OTHER, b"tea")
    assert keyed_hash(KEY, b"tea", 16) == keyed_hash(KEY, b"tea")[:16]

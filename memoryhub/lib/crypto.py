"""Keys and ciphers. The only importer of ``cryptography``; knows bytes, not rows.

Two levels: a master key (named by a small integer id) wraps one random data key per vault; sub-keys for content, blind
index, duplicate hash and audit chain are derived from the data key by HKDF, so none is ever used twice (CON-01).
Envelope of a sealed value: ``M · algorithm · key version (uint32) · flags · nonce (12) · ciphertext + tag (16)``.

A vault may have several data keys while it is resealed: every one of them opens, the newest seals. What must outlive
them (index, duplicate and audit keys) hangs on the first, and is kept by itself, as ``roots``, before that goes.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from memoryhub.lib.errors import HubError, Kind

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
_HEADER = struct.Struct(">cBIB")
_MAGIC = b"M"
_AES_256_GCM = 1
#: The version under which a vault keeps the sub-keys that outlive its data keys; nothing is ever sealed under it.
ROOTS_VERSION = 0
OVERHEAD_BYTES = _HEADER.size + NONCE_BYTES + TAG_BYTES


class CryptoError(HubError):
    """The hub could not work with a key or a sealed value."""

    code = "crypto"
    kind = Kind.INTERNAL


class DecryptionError(CryptoError):
    """A sealed value does not open: it was damaged, moved, or sealed under another key."""

    code = "unreadable"


class UnknownKey(CryptoError):
    """A key id is not among the configured keys; add it to MEMORYHUB_KEYS and start again."""

    code = "unknown_key"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class MasterKeys:
    """The server's keys by id; the active one wraps new data keys, the others still unwrap."""

    keys: Mapping[int, bytes]
    active: int
    _CHECK: ClassVar[bytes] = b"memoryhub key check 1"

    def __post_init__(self) -> None:
        for key_id, key in self.keys.items():
            if len(key) != KEY_BYTES:
                raise CryptoError(f"Encryption key {key_id} has {len(key)} bytes; it must be {KEY_BYTES} random bytes.")
        if self.active not in self.keys:
            raise UnknownKey(f"The active encryption key {self.active} is not among the configured keys.")

    def get(self, key_id: int) -> bytes:
        """The key with that id. Raises UnknownKey naming the id."""
        try:
            return self.keys[key_id]
        except KeyError:
            message = f"Encryption key {key_id} is missing; add it to MEMORYHUB_KEYS (or keys.json) and start again."
            raise UnknownKey(message) from None

    def check_value(self, key_id: int) -> bytes:
        """A fingerprint to store beside the data, so that a wrong key is noticed before it writes."""
        return hmac.digest(self.get(key_id), self._CHECK, "sha256")

    def wrap(self, data_key: bytes, context: bytes) -> bytes:
        """``data_key`` sealed under the active key and bound to ``context``."""
        return seal(self.get(self.active), self.active, data_key, b"wrap\0" + context)

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """The data key inside ``wrapped``. Raises UnknownKey or DecryptionError."""
        return unseal(self.get(key_version(wrapped)), wrapped, b"wrap\0" + context)


@dataclass(frozen=True, slots=True, repr=False)
class VaultKeys:
    """The sub-keys of one vault: ``content`` seals by data-key version, the others are versionless."""

    content: Mapping[int, bytes]
    active: int
    index: bytes
    dedup: bytes
    audit: bytes

    @property
    def roots(self) -> bytes:
        """The versionless sub-keys, to be kept where the data key they were derived from goes."""
        return self.index + self.dedup + self.audit

    def joined(self, newer: VaultKeys) -> VaultKeys:
        """``newer``, still opening what this one opens: rows read a moment ago may be sealed under what has gone."""
        return replace(newer, content={**self.content, **newer.content})

    def seal(self, plain: bytes, aad: bytes) -> bytes:
        """``plain`` sealed under the active content key and bound to ``aad``."""
        return seal(self.content[self.active], self.active, plain, aad)

    def unseal(self, sealed: bytes, aad: bytes) -> bytes:
        """What is inside. Raises UnknownKey for a version that is gone, DecryptionError for anything else."""
        version = key_version(sealed)
        key = self.content.get(version)
        if key is None:
            raise UnknownKey(f"The vault's data key version {version} is not there any more.")
        return unseal(key, sealed, aad)


def new_key() -> bytes:
    """32 random bytes."""
    return os.urandom(KEY_BYTES)


@lru_cache(maxsize=4096)
def _cipher(key: bytes) -> AESGCM:
    return AESGCM(key)


def seal(key: bytes, version: int, plain: bytes, aad: bytes) -> bytes:
    """AES-256-GCM with a random 96-bit nonce; ``aad`` and the header are authenticated too."""
    header = _HEADER.pack(_MAGIC, _AES_256_GCM, version, 0)
    nonce = os.urandom(NONCE_BYTES)
    return header + nonce + _cipher(key).encrypt(nonce, plain, header + aad)


def unseal(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    """The plain bytes. Raises DecryptionError when anything, including ``aad``, is not as it was sealed."""
    header, nonce = sealed[: _HEADER.size], sealed[_HEADER.size : _HEADER.size + NONCE_BYTES]
    if len(sealed) < OVERHEAD_BYTES or header[:2] != _MAGIC + bytes([_AES_256_GCM]):
        raise DecryptionError
    try:
        return _cipher(key).decrypt(nonce, sealed[_HEADER.size + NONCE_BYTES :], header + aad)
    except InvalidTag:
        raise DecryptionError from None


def key_version(sealed: bytes) -> int:
    """The key version an envelope names. Raises DecryptionError when it is not an envelope."""
    if len(sealed) < OVERHEAD_BYTES or sealed[:1] != _MAGIC:
        raise DecryptionError
    return int(_HEADER.unpack_from(sealed)[2])


def derive(data_key: bytes, purpose: str) -> bytes:
    """A 32-byte sub-key of ``data_key`` for one purpose (HKDF-SHA256)."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=b"memoryhub/" + purpose.encode()).derive(data_key)


@lru_cache(maxsize=4096)
def vault_keys(versions: tuple[tuple[int, bytes], ...]) -> VaultKeys:
    """The sub-keys of a vault from its (version, data key) pairs, oldest first.

    Index, duplicate and audit keys hang on the first version, or are its roots: changing them means rebuilding what
    they keyed.
    """
    first_version, first = versions[0]
    if first_version == ROOTS_VERSION:
        index, dedup, audit = (first[start : start + KEY_BYTES] for start in range(0, 3 * KEY_BYTES, KEY_BYTES))
    else:
        index, dedup, audit = (derive(first, purpose) for purpose in ("index", "dedup", "audit"))
    sealing = {version: data_key for version, data_key in versions if version != ROOTS_VERSION}
    return VaultKeys(
        content={version: derive(data_key, "content") for version, data_key in sealing.items()},
        active=max(sealing),
        index=index,
        dedup=dedup,
        audit=audit,
    )


def forget_derived() -> None:
    """Drop every remembered sub-key and cipher, for instance after a data key was destroyed."""
    vault_keys.cache_clear()
    _cipher.cache_clear()


def keyed_hash(key: bytes, data: bytes, length: int = 32) -> bytes:
    """HMAC-SHA256, cut to ``length`` bytes."""
    return hmac.digest(key, data, "sha256")[:length]


def same(left: bytes, right: bytes) -> bool:
    """Equality in constant time."""
    return hmac.compare_digest(left, right)


def fingerprint(data: bytes) -> str:
    """SHA-256 in hex, for things that are not secret."""
    return hashlib.sha256(data).hexdigest()

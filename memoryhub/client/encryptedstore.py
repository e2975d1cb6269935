"""A wrapper that seals the content of items before any store sees it (ENC-01…08).

Texts are sealed with AES-256-GCM under a key made of the caller's secret, and bound to their item's id (CON-01).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import os
from collections.abc import Awaitable, Iterator
from functools import lru_cache

from memoryhub.client.acting import act
from memoryhub.client.hubstore import SEALED
from memoryhub.client.items import MemoryCategory, MemoryItem, MemoryMetadata, MemoryStatus
from memoryhub.client.stores import Filters, MemoryStore, chosen
from memoryhub.lib.crypto import DecryptionError, seal, unseal

log = logging.getLogger(__name__)

_SALT_BYTES = 16
_KEY_VERSION = 1
#: How many items a search with a query opens, the newest: sealed texts cannot be searched by their store.
SEARCHED_MAX = 1_000


class EncryptedMemoryStore:
    """Any store, with ``content`` sealed and everything else in the clear to filter by; opt in by wrapping.

    ``get`` of an item that does not open raises DecryptionError; a search leaves it out and tells the log (ENC-20).
    """

    def __init__(self, store: MemoryStore, secret: str) -> None:
        if not secret:
            raise ValueError("An empty secret protects nothing; give a long random one.")
        self._store = store
        self._secret = secret.encode()
        self._salt: bytes | None = None

    def add(self, item: MemoryItem) -> Awaitable[None]:
        """Seal it and hand it on. Nothing is stored where that fails."""
        return act(self._store.add(item.model_copy(update={"content": self._sealed(item)})))

    async def get(self, item_id: str) -> MemoryItem | None:
        """The item, opened. Raises DecryptionError for another secret or a text that was changed or moved."""
        item = await self._store.get(item_id)
        return None if item is None else self._opened(item)

    async def search(
        self,
        *,
        query: str = "",
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
        limit: int = 10,
    ) -> list[MemoryItem]:
        """The items that match, opened; words of a query are looked for here, in the newest thousand."""
        most = SEARCHED_MAX if query.strip() else limit
        found = await self._store.search(
            metadata=metadata, memory_type=memory_type, category=category, status=status, limit=most
        )
        return chosen(self._readable(found), Filters(), query, limit)

    async def clear(
        self,
        *,
        metadata: MemoryMetadata | None = None,
        memory_type: str | None = None,
        category: MemoryCategory | None = None,
        status: MemoryStatus | None = None,
    ) -> int:
        """Remove what matches; nothing needs to be opened for that."""
        return await self._store.clear(metadata=metadata, memory_type=memory_type, category=category, status=status)

    def _sealed(self, item: MemoryItem) -> str:
        salt = self._salt = self._salt or os.urandom(_SALT_BYTES)
        sealed = seal(_key(self._secret, salt), _KEY_VERSION, item.content.encode(), item.id.encode())
        return SEALED + base64.urlsafe_b64encode(salt + sealed).decode()

    def _opened(self, item: MemoryItem) -> MemoryItem:
        raw = _unpacked(item.content)
        # Later texts share the salt of what is there, so that a store is opened with few keys: each takes a while.
        salt = raw[:_SALT_BYTES]
        plain = unseal(_key(self._secret, salt), raw[_SALT_BYTES:], item.id.encode())
        self._salt = self._salt or salt
        return item.model_copy(update={"content": plain.decode()})

    def _readable(self, items: list[MemoryItem]) -> Iterator[MemoryItem]:
        for item in items:
            try:
                yield self._opened(item)
            except DecryptionError:
                log.warning("Item %s does not open with this secret; it is left out.", item.id)


def _unpacked(content: str) -> bytes:
    if not content.startswith(SEALED):
        raise DecryptionError("The text was not sealed by this store.")
    try:
        return base64.b64decode(content.removeprefix(SEALED), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise DecryptionError("The sealed text is damaged.") from None


@lru_cache(maxsize=64)
def _key(secret: bytes, salt: bytes) -> bytes:
    """32 bytes by scrypt: guessing a weak secret costs 16 MiB and some 50 ms a guess."""
    return hashlib.scrypt(secret, salt=salt, n=2**14, r=8, p=1, dklen=32)

"""Things tests need, made by the services a user would call."""

from __future__ import annotations

from typing import Any

from banks.access import ALL_SCOPES, Access, KeyScope, access_from_secret, system_access
from banks.models import ApiKey, Vault
from banks.services.drafts import KeyDraft
from banks.services.keys import create_key
from banks.services.vaults import create_vault
from memories.models import Memory
from memories.rules.drafts import MemoryDraft
from memories.services.writing import WriteResult, write_memory


def make_vault(name: str = "Home") -> Vault:
    """A vault with its seven banks."""
    return create_vault(name)


def make_key(access: Access, scopes: frozenset[KeyScope] = ALL_SCOPES, **more: Any) -> tuple[ApiKey, str]:
    """A key and its secret."""
    return create_key(access, KeyDraft(name=more.pop("name", "test"), scopes=sorted(scopes), **more))


def access_of(secret: str) -> Access:
    """The access of a key, as a request would get it."""
    return access_from_secret(secret, "test-request")


def draft(content: str = "The hub listens on port 8000.", **more: Any) -> MemoryDraft:
    """A valid draft; ``more`` as a caller would send it."""
    return MemoryDraft.parse({"content": content, **more})


def remember(access: Access, content: str = "The hub listens on port 8000.", **more: Any) -> Memory:
    """A written memory."""
    return write(access, content, **more).memory


def write(access: Access, content: str = "The hub listens on port 8000.", **more: Any) -> WriteResult:
    """The result of a write."""
    return write_memory(access, draft(content, **more))


def operator(vault: Vault) -> Access:
    """The hub itself, acting in a vault."""
    return system_access(vault.pk, "test-request")

"""The hub that is used where none is named: one client for the process, of MEMORYHUB_URL and MEMORYHUB_KEY."""

from __future__ import annotations

from functools import lru_cache

from memoryhub.client.hub import MemoryHub


@lru_cache(maxsize=1)
def shared_hub() -> MemoryHub:
    """Made when it is first needed. Raises NotConfigured when the environment does not say where the hub is."""
    return MemoryHub()

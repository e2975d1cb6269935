"""How much of the machine's memory the embedded PostgreSQL plans with."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

_MEGABYTE = 1 << 20
_SHARED = Path("/dev/shm")


def memory_settings() -> dict[str, str]:
    """The server settings for this machine."""
    shared = os.statvfs(_SHARED) if _SHARED.is_dir() else None
    free = shared.f_bavail * shared.f_frsize if shared else 0
    return settings_for(psutil.virtual_memory().total // _MEGABYTE, free // _MEGABYTE)


def settings_for(memory: int, shared: int) -> dict[str, str]:
    """The settings for so many megabytes of memory, ``shared`` of them free in /dev/shm.

    A vector index is built in ``maintenance_work_mem`` as long as it fits there, several times slower once it does not:
    a million vectors of 256 halves need 1.5 GB of it, and searches are fast while the index fits the buffers.
    """
    building = min(max(memory // 8, 64), 2048)
    settings = {
        "shared_buffers": f"{min(max(memory // 8, 128), 2048)}MB",
        "effective_cache_size": f"{max(memory // 2, 256)}MB",
        "maintenance_work_mem": f"{building}MB",
        # Otherwise every autovacuum process would take as much.
        "autovacuum_work_mem": "64MB",
    }
    # A parallel build takes all of it there at once, and containers give 64 MB.
    return settings if shared > 2 * building else {**settings, "dynamic_shared_memory_type": "mmap"}

"""Whose certificates are believed when another machine is called. Reading them takes longer than most calls."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

import httpx2


def authorities(*, trust_env: bool = True) -> ssl.SSLContext:
    """The system's authorities, read once a process; with ``trust_env``, what SSL_CERT_FILE and SSL_CERT_DIR name."""
    named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")) if trust_env else (None, None)
    return _read(trust_env, named)


@lru_cache(maxsize=8)
def _read(trust_env: bool, named: tuple[str | None, str | None]) -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=trust_env)

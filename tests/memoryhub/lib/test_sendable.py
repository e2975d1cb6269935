"""What cannot be sent is known before it is."""

from __future__ import annotations

import pytest

from memoryhub.lib.sendable import is_host, is_key


@pytest.mark.parametrize("key", ["mh_live_abc", "x"])
def test_a_key(key: str):
    assert is_key(key)


@pytest.mark.parametrize("key", ["", "kéy", "a b", "a\n", "a\x7f", "\ud800", "mh_live_…"])
def test_no_key(key: str):
    assert not is_key(key)


@pytest.mark.parametrize(
    "host", ["localhost", "hub.example.org", "hub.example.org.", "127.0.0.1", "::1", "bücher.example"]
)
def test_a_host(host: str):
    assert is_host(host)


@pytest.mark.parametrize("host", ["", "a" * 300, "a..b", f"{'a' * 64}.example.org", "\ud800"])
def test_no_host(host: str):
    """Each of them makes Python's resolver raise UnicodeError, which is no OSError."""
    assert not is_host(host)

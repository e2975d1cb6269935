"""Certificates are read once, and believed no less for it."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from memories.management.proxy import Proxy
from memoryhub.client.address import Address
from memoryhub.lib.authorities import authorities
from memoryhub.lib.net import open_client


def test_they_are_read_once():
    assert authorities() is authorities()
    assert authorities(trust_env=False) is authorities(trust_env=False)


def test_every_certificate_and_name_is_checked():
    context = authorities()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_a_bundle_named_by_the_environment_is_heeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    usual, alone = authorities(), authorities(trust_env=False)
    empty = tmp_path / "authorities.pem"
    empty.write_text("")
    with monkeypatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(empty))
        assert authorities(trust_env=False) is alone
        with pytest.raises(ssl.SSLError):  # it holds none
            authorities()
    assert authorities() is usual


def test_every_caller_shares_them(monkeypatch: pytest.MonkeyPatch):
    """A client was 20 ms of reading certificates, also where it called http only."""
    address = Address("http://localhost:8000", "key")
    authorities(), authorities(trust_env=False)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_: pytest.fail("read again"))
    with address.open_client(), open_client(), Proxy.to("http://localhost:8000", "key"):
        address.open_async_client()

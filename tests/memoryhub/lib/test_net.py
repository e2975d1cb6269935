"""Which addresses the hub may call."""

from __future__ import annotations

import socket

import pytest
from httpx2 import ConnectError

from memoryhub.lib.net import AddressRefused, open_client, resolve, within


@pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700::1111"])
@pytest.mark.parametrize("allow_private", [True, False])
def test_public_addresses_may_be_called(host: str, allow_private: bool):
    assert resolve(host, 443, allow_private=allow_private) == [host]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd00::1",
     "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2130706433", "0x7f.1"],
)  # fmt: skip
def test_private_addresses_only_when_allowed(host: str):
    """However they are written: mapped, translated, as one number or in hexadecimal."""
    with pytest.raises(AddressRefused):
        resolve(host, 80, allow_private=False)
    assert resolve(host, 80, allow_private=True)


@pytest.mark.parametrize("host", ["169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "::ffff:169.254.169.254"])
@pytest.mark.parametrize("allow_private", [True, False])
def test_addresses_no_service_has_are_never_called(host: str, allow_private: bool):
    with pytest.raises(AddressRefused):
        resolve(host, 80, allow_private=allow_private)


def test_a_name_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch):
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 80)) for host in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_kwargs: answers)
    with pytest.raises(AddressRefused):
        resolve("two-faced.example", 80, allow_private=False)


@pytest.mark.parametrize("host", ["a" * 300, "a..example", f"{'a' * 64}.example"])
def test_a_name_no_resolver_takes_does_not_resolve(host: str):
    """Python raises UnicodeError for it, in the thread that looks it up: nobody may wait for what never comes."""
    with within(30), pytest.raises(OSError, match="no name of a host"):
        resolve(host, 80, allow_private=False)
    with open_client() as client, pytest.raises(ConnectError, match="does not resolve"):
        client.get(f"http://{host}/")


def test_the_client_refuses_before_it_connects():
    with open_client() as client, pytest.raises(AddressRefused):
        client.get("http://127.0.0.1:1/")

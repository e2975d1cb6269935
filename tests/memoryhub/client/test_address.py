"""Where the hub is: what is understood, what is refused with a word on it, and through whom it is called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memoryhub.client import NO_RETRIES, HubUnreachable, MemoryHub, NotConfigured
from tests.memoryhub.client.conftest import Scripted, fine

ME = fine(vault={}, scopes=[])


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("http://localhost:8000", "http://localhost:8000"),
        (" https://hub.example.org/ ", "https://hub.example.org"),
        ("http://localhost:8000/api/v1", "http://localhost:8000"),
        ("http://localhost:8000/api/v1/", "http://localhost:8000"),
        ("http://localhost:8000/mcp", "http://localhost:8000"),
        ("https://example.org/memory", "https://example.org/memory"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_as_people_paste_it(given: str, understood: str):
    with MemoryHub(given, "key") as hub:
        assert hub.url == understood
        assert repr(hub) == f"MemoryHub({understood!r})"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("localhost:8000", "begins with http:// or https://"),
        ("hub.example.org", "begins with http:// or https://"),
        ("ftp://hub.example.org", "begins with http:// or https://"),
        ("not an address", "no address"),
        ("http://", "no address"),
        ("http://[::1", "no address"),
        (f"http://{'a' * 300}:8000", "no address"),
        ("http://hub..example.org", "no address"),
        ("http://user:word@hub.example.org", "holds a user name"),
        ("http://localhost:8000/?key=1", "leave out what follows"),
    ],
)
def test_what_is_no_address(given: str, said: str):
    with pytest.raises(NotConfigured, match=said) as refused:
        MemoryHub(given, "key")
    assert "word" not in str(refused.value)


@pytest.mark.parametrize("key", ["mh_live_…", "mh_live_a b", "mh_live_a\nX-Evil: 1", "ключ"])
def test_what_is_no_key(key: str):
    """The dots of a documentation, half a line of a terminal: said at once, and not quoted."""
    with pytest.raises(NotConfigured, match="copy the whole of it") as refused:
        MemoryHub("http://localhost:8000", key)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        ({}, "MEMORYHUB_URL and MEMORYHUB_KEY"),
        ({"MEMORYHUB_URL": "http://localhost:8000"}, "set MEMORYHUB_KEY"),
        ({"MEMORYHUB_KEY": "key", "MEMORYHUB_URL": " "}, "set MEMORYHUB_URL"),
    ],
)
def test_what_was_not_said_is_named(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], missing: str):
    """And where to get it."""
    for name in ("MEMORYHUB_URL", "MEMORYHUB_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NotConfigured, match=missing) as refused:
        MemoryHub()
    assert "manage.py up" in str(refused.value)


def test_a_timeout_is_longer_than_nothing():
    with pytest.raises(ValueError, match="more than 0"):
        MemoryHub("http://localhost:8000", "key", timeout=0)


def test_a_hub_on_this_machine_is_called_without_the_proxy(
    service: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
):
    """The key would leave the machine, and the proxy would look for the hub on its own."""
    hub_here, proxy = service(ME), service(ME)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    with MemoryHub(hub_here.url, "key") as hub:
        hub.whoami()
    assert len(hub_here.asked) == 1 and proxy.asked == []


def test_a_hub_elsewhere_is_called_through_the_proxy(service: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch):
    """As the environment says; and not where it says no."""
    proxy = service(ME)
    monkeypatch.setenv("http_proxy", proxy.url.removeprefix("http://"))
    with MemoryHub("http://hub.invalid", "key") as hub:
        hub.whoami()
    assert [path for _, path, _, _ in proxy.asked] == ["http://hub.invalid/api/v1/whoami"]
    monkeypatch.setenv("no_proxy", "hub.invalid")
    with MemoryHub("http://hub.invalid", "key", retries=NO_RETRIES) as hub, pytest.raises(HubUnreachable):
        hub.whoami()
    assert len(proxy.asked) == 1

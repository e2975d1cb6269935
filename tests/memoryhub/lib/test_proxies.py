"""Which proxy a hub is called through: none where it runs on this machine."""

from __future__ import annotations

import pytest

from memoryhub.lib.proxies import proxy_for


@pytest.mark.parametrize(
    ("host", "proxy"),
    [
        ("hub.example.org", "http://proxy.example.org:3128"),
        ("10.0.0.7", "http://proxy.example.org:3128"),
        ("inside.example.org", None),
        ("127.0.0.1", None),
        ("127.8.8.8", None),
        ("::1", None),
        ("localhost", None),
        ("hub.localhost", None),
    ],
)
def test_a_key_does_not_leave_this_machine(host: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "inside.example.org")
    assert proxy_for("http", host) == proxy

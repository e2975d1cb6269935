"""Which proxy the environment names for an address of a hub, which is called with a key."""

from __future__ import annotations

import ipaddress
from urllib.request import getproxies, proxy_bypass  # noqa: TID251 - only asks which proxy the system names


def proxy_for(scheme: str, host: str) -> str | None:
    """None for a hub on this machine, whose key must not leave it."""
    if _is_here(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

"""Where on the network an address leads: to everybody's, to somebody's own, or to what no service of anybody is.

By IANA's registries of special-purpose addresses (as of 2026-11), not by what the running Python knows of them:
https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry.
"""

from __future__ import annotations

import ipaddress
from enum import StrEnum

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address
type Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Reach(StrEnum):
    """Whom an address belongs to."""

    PUBLIC = "public"
    PRIVATE = "private"
    NEVER = "never"


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(one) for one in text.split())


#: What clouds answer their own machines with, in ranges that look harmless: Azure, Oracle, Alibaba, AWS, Google.
_CLOUDS = _networks("168.63.129.16/32 192.0.0.192/32 100.100.100.200/32 fd00:ec2::254/128 fd20:ce::254/128")
#: No service at all: this network, link-local, multicast, to come, broadcast, discard-only, and what is not given out.
_NEVER = _networks("0.0.0.0/8 169.254.0.0/16 224.0.0.0/4 240.0.0.0/4 ::/128 100::/64 100:0:0:1::/64 fe80::/10 ff00::/8")
#: One's own: RFC 1918, shared, loopback, unique local, site-local, and a translation of one's own into IPv4.
_OWN = _networks(
    "10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7 fec0::/10 64:ff9b:1::/48"
)
#: Protocols, documentation, benchmarks, relays, tunnels, segment routing: none of them is a service for everybody.
_SPECIAL = _networks(
    "192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24 198.18.0.0/15 "
    "198.51.100.0/24 203.0.113.0/24 2001::/23 2001:db8::/32 2620:4f:8000::/48 3fff::/20 5f00::/16"
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
#: All that has ever been given out to be routed.
_UNICAST = ipaddress.ip_network("2000::/3")


def reach_of(text: str) -> Reach:
    """Whose address it is; one that came dressed as IPv6 is undressed first. A zone (``%eth0``) changes nothing."""
    address = _plain(ipaddress.ip_address(text.partition("%")[0]))
    if _in(address, _CLOUDS) or _in(address, _NEVER):
        return Reach.NEVER
    if _in(address, _OWN) or _in(address, _SPECIAL):
        return Reach.PRIVATE
    if address.version == 6 and address not in _UNICAST:
        return Reach.NEVER
    return Reach.PUBLIC if address.is_global else Reach.PRIVATE  # a Python that knows more than this list


def _in(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


def _plain(address: Address) -> Address:
    """An IPv4 address that came as IPv6: mapped, translated (NAT64) or tunnelled (6to4)."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address

"""Whose addresses are whose: every range of IANA's registries, at its ends and in each of its dresses."""

from __future__ import annotations

import ipaddress

import pytest

from memoryhub.lib.addresses import Reach, reach_of

#: IANA IPv4 and IPv6 Special-Purpose Address Registries, all rows, and multicast.
REGISTERED = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32
    192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24
    192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    255.255.255.255/32 192.0.0.192/32 168.63.129.16/32 100.100.100.200/32
    ::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128
    2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2620:4f:8000::/48
    3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8 fd00:ec2::254/128
""".split()
FOUR = [one for one in REGISTERED if "." in one]
#: Free on either side, so that the ranges are not wider than they are.
BESIDE = """
    1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
    172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
    198.51.99.255 203.0.112.255 203.0.114.0 223.255.255.255 168.63.129.17 8.8.8.8
    2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2606:4700::1111 2620:4f:7fff:: 2620:4f:8001:: 3ffe:ffff:: 3fff:1000::
""".split()


@pytest.mark.parametrize("network", REGISTERED)
def test_no_special_address_is_public(network: str):
    """security.md S9."""
    found = ipaddress.ip_network(network)
    assert {reach_of(str(one)) for one in (found[0], found[-1], found[found.num_addresses // 2])} <= {
        Reach.PRIVATE,
        Reach.NEVER,
    }


@pytest.mark.parametrize("network", FOUR)
@pytest.mark.parametrize("dress", ["::ffff:{}", "64:ff9b::{}", "6to4"])
def test_a_dress_hides_nothing(network: str, dress: str):
    four = ipaddress.IPv4Network(network)[0]
    tunnelled = str(ipaddress.IPv6Address((0x2002 << 112) | (int(four) << 80)))
    worn = tunnelled if dress == "6to4" else dress.format(four)
    assert reach_of(worn) == reach_of(str(four)) != Reach.PUBLIC


@pytest.mark.parametrize("address", BESIDE)
def test_what_lies_beside_is_public(address: str):
    assert reach_of(address) == Reach.PUBLIC


@pytest.mark.parametrize(
    "address", ["192.0.0.192", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "169.254.169.254", "fe80::1%eth0",
                "255.255.255.255", "::ffff:192.0.0.192", "::127.0.0.1", "4000::1", "1::1"]
)  # fmt: skip
def test_services_of_clouds_and_what_is_nobodys_is_never_called(address: str):
    """Not even with an operator's leave."""
    assert reach_of(address) == Reach.NEVER

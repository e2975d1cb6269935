from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from memoryhub.local.processes import Command, start
from memoryhub.local.readiness import AddressUnusable, NotReady, address, refuse_taken_port, wait_until_ready


def test_a_port_in_use_is_refused_by_name():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(AddressUnusable, match=f"Port {port} on 127.0.0.1 cannot be used"):
            refuse_taken_port("127.0.0.1", port)
    refuse_taken_port("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 0), ("127.0.0.1", 70000), ("no.such.host.invalid", 8000)])
def test_nonsense_is_refused(host: str, port: int):
    with pytest.raises(AddressUnusable):
        refuse_taken_port(host, port)


def test_a_server_that_ended_is_not_waited_for(tmp_path: Path):
    web = start(Command(name="web", words=[sys.executable, "-c", ""], log=tmp_path / "web.log"))
    with pytest.raises(NotReady, match=r"ended while it started; .*web\.log says why"):
        wait_until_ready("127.0.0.1", 1, web)


def test_addresses_can_be_opened():
    assert address("0.0.0.0", 8000) == "http://127.0.0.1:8000"
    assert address("::", 8000) == "http://[::1]:8000"
    assert address("hub.example.org", 80) == "http://hub.example.org:80"

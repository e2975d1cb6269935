from __future__ import annotations

import stat

import redis

from memoryhub.lib.broker import redis_url
from memoryhub.local.datadir import DataDir
from memoryhub.local.valkey import start_valkey


def test_it_answers_on_a_private_socket_and_writes_nothing_down(datadir: DataDir):
    """STA-02: no broker of one's own is needed."""
    server = start_valkey(datadir)
    client = redis.Redis.from_url(redis_url(server.url))
    assert client.set("key", "value")
    assert client.config_get("port") == {"port": "0"}
    client.close()
    assert stat.S_IMODE(datadir.broker_socket.stat().st_mode) == 0o700
    server.stop()
    assert server.child.exit_code == 0
    assert list(datadir.valkey.iterdir()) == []

"""A real Valkey for the kicks of this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from celery import current_app

from memoryhub.lib.kick import _kicker
from memoryhub.local.datadir import DataDir, prepare
from memoryhub.local.store import discard
from memoryhub.local.valkey import start_valkey


@contextmanager
def valkey(folder: Path) -> Iterator[DataDir]:
    """A Valkey of its own, in a data folder of its own."""
    datadir = prepare(folder)
    server = start_valkey(datadir)
    try:
        yield datadir
    finally:
        server.stop()
        discard(datadir)


@contextmanager
def kicks_to(url: str) -> Iterator[None]:
    """This process's kicks go to that broker, reachable or not."""
    before = current_app.conf.broker_url
    _point_at(url)
    try:
        yield
    finally:
        _point_at(before)


def _point_at(url: str) -> None:
    current_app.conf.update(broker_url=url, broker_write_url=url)
    current_app._after_fork()  # type: ignore[attr-defined] # what Celery itself does to forget its connections
    _kicker._silent_until = 0.0

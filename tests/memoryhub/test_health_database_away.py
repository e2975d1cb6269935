"""The database is stopped under a running hub and comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from memoryhub.local.datadir import locate, prepare
from memoryhub.local.postgres import start_postgres
from memoryhub.local.store import discard
from tests.memories.management.commands.test_up import Hub

pytestmark = pytest.mark.slow


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Data folders of the hub and of a database that is not the hub's own."""
    both = (tmp_path / "hub", tmp_path / "servers")
    yield both
    for folder in both:
        if folder.exists():
            discard(locate(folder))


def test_a_database_that_goes_away_is_a_503_and_comes_back_by_itself(folders: tuple[Path, Path]):
    """DEG-14: Retry-After while it is away, nothing half done, no restart needed."""
    own = prepare(folders[1])
    database = start_postgres(own)
    hub = Hub(folders[0], "--no-worker", DATABASE_URL=database.url).ready()
    try:
        key = {"Authorization": f"Bearer {hub.bootstrap()['api_key']}"}

        def write(content: str) -> httpx2.Response:
            return httpx2.post(f"{hub.url}/api/v1/memories", json={"content": content}, headers=key, timeout=60)

        assert write("Before.").status_code == 201
        database.stop()
        started = time.monotonic()
        away = write("Meanwhile.")
        assert (away.status_code, away.json()["code"]) == (503, "database_away")
        assert int(away.headers["Retry-After"]) > 0
        assert time.monotonic() - started < 45
        assert httpx2.get(f"{hub.url}/health/live", timeout=20).status_code == 200
        assert httpx2.get(f"{hub.url}/health/ready", timeout=60).status_code == 503
        page = httpx2.get(f"{hub.url}/memories/", headers={"Cookie": f"memoryhub_session={'a' * 32}"}, timeout=60)
        assert (page.status_code, page.headers["Content-Type"][:9]) == (503, "text/html")
        database = start_postgres(own)
        _wait_until(lambda: httpx2.get(f"{hub.url}/health/ready", timeout=60).status_code == 200)
        assert write("After.").status_code == 201
        listed = httpx2.get(f"{hub.url}/api/v1/memories", headers=key, timeout=60).json()
        assert [item["content"] for item in listed["items"]] == ["After.", "Before."]
    finally:
        hub.stop()
        database.stop()


def _wait_until(condition: Callable[[], bool], seconds: float = 300) -> None:
    pause, deadline = threading.Event(), time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.2)

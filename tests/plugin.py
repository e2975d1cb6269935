"""The ground the tests stand on: a real PostgreSQL of their own, made before Django reads its settings.

Loaded by ``addopts``. With DATABASE_URL set, that server is used instead.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

#: Each has a PostgreSQL and, for some tests, a browser and a hub of its own.
WORKERS_MAX = 4

_ground = ExitStack()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """A data folder with fixed secrets, and its server."""
    folder = Path(_ground.enter_context(tempfile.TemporaryDirectory(prefix="memoryhub-tests-")), "data")
    # Before the first import below: the modules read the environment when they are imported.
    os.environ["MEMORYHUB_DATA"] = str(folder)
    from memoryhub.local.datadir import prepare, write_private
    from memoryhub.local.postgres import start_postgres
    from memoryhub.local.store import discard

    datadir = prepare(folder)
    _ground.callback(discard, datadir)
    secrets = {
        "active": 1,
        "keys": {"1": base64.b64encode(bytes(range(32))).decode()},
        "secret_key": "only for the tests, 32 characters and more",
        "pepper": "only for the tests too, 32 characters and more",
    }
    write_private(folder / "keys.json", json.dumps(secrets))
    if "DATABASE_URL" not in os.environ:
        # Tests may lose their data in a power cut; they may not be slow.
        server = start_postgres(datadir, {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"})
        _ground.callback(server.stop)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A process per core for the whole suite; none of its own for a few named tests, which begin sooner without."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return min(os.cpu_count() or 1, WORKERS_MAX) if whole else 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin first, so that no process is left with one of them when the others are through.

    Within a file tests on a common ground come last: for those before them the database is still empty.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    in_turn = sorted(files.values(), key=lambda tests: sum(map(_weight, tests)), reverse=True)
    items[:] = [item for tests in in_turn for item in sorted(tests, key=_is_on_ground)]


def _weight(item: pytest.Item) -> int:
    return 100 if item.get_closest_marker("slow") else 20 if item.get_closest_marker("browser") else 1


def _is_on_ground(item: pytest.Item) -> bool:
    return "common_ground" in getattr(item, "fixturenames", ())


def pytest_collection_finish() -> None:
    """Looking for garbage among modules and tests, which stay to the end, again and again was a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_unconfigure() -> None:
    """Stop the server and take its files away."""
    _ground.close()

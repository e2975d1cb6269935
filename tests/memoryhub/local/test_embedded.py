from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from memoryhub.env import BASE_DIR
from memoryhub.local.datadir import DataDir
from memoryhub.local.embedded import NotStarted, embedded_database
from memoryhub.local.locks import DataDirInUse, hub_lock
from memoryhub.local.postgres import answers, start_postgres


def test_a_folder_without_a_hub_is_refused_and_not_made(tmp_path: Path):
    with pytest.raises(NotStarted, match=r"manage\.py up"), embedded_database(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()


def test_it_runs_for_as_long_as_the_command(datadir: DataDir):
    with embedded_database(datadir.root) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not answers(datadir.database_url)


def test_a_running_hub_is_used_and_left_alone(datadir: DataDir):
    with hub_lock(datadir):
        server = start_postgres(datadir)
        with embedded_database(datadir.root) as url:
            assert url == server.url
        assert answers(server.url)
        server.stop()


def test_who_started_it_waits_for_who_came_along(datadir: DataDir):
    script = (
        "import sys, pathlib; from memoryhub.local.embedded import embedded_database\n"
        "with embedded_database(pathlib.Path(sys.argv[1])) as url:\n"
        "    print('in', flush=True); sys.stdin.readline()\n"
        "    import psycopg; print(psycopg.connect(url).execute('SELECT 1').fetchone()[0], flush=True)\n"
    )
    opened = embedded_database(datadir.root)
    opened.__enter__()
    guest = subprocess.Popen(
        [sys.executable, "-c", script, str(datadir.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=BASE_DIR,
    )
    assert guest.stdin is not None and guest.stdout is not None
    assert guest.stdout.readline() == "in\n"
    leaving = threading.Thread(target=opened.__exit__, args=(None, None, None))
    leaving.start()
    guest.stdin.write("\n")
    guest.stdin.flush()
    assert guest.stdout.readline() == "1\n"
    guest.communicate(timeout=120)
    leaving.join(30)
    assert not leaving.is_alive()
    assert not answers(datadir.database_url)


def test_two_hubs_cannot_have_one_folder(datadir: DataDir):
    with hub_lock(datadir), pytest.raises(DataDirInUse, match="in use"), hub_lock(datadir):
        pass

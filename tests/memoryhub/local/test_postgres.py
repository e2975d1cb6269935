from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import psycopg
import pytest

from memoryhub.local.datadir import DataDir
from memoryhub.local.postgres import PostgresFailed, answers, start_postgres

QUICK = {"fsync": "off", "shared_buffers": "16MB"}


def test_it_has_vectors_listens_on_a_private_socket_only_and_keeps_its_rows(datadir: DataDir):
    """STA-02: no server of one's own is needed. GEN-05: its log quotes nothing."""
    server = start_postgres(datadir, QUICK)
    with psycopg.connect(server.url, autocommit=True) as connection:
        assert connection.execute("SELECT '[1,2]'::vector <=> '[1,2]'").fetchone() == (0.0,)
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SHOW data_checksums").fetchone() == ("on",)
        connection.execute("CREATE TABLE kept (word text UNIQUE)")
        connection.execute("INSERT INTO kept VALUES ('canary')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO kept VALUES ('canary')")
    assert stat.S_IMODE(datadir.run.stat().st_mode) == 0o700
    server.stop()
    assert server.child.exit_code == 0
    assert not answers(server.url)
    assert "canary" not in (datadir.logs / "postgres.log").read_text()

    server = start_postgres(datadir, QUICK)
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT word FROM kept").fetchone() == ("canary",)
    server.stop()


def test_a_server_that_was_killed_starts_again_with_what_was_committed(datadir: DataDir):
    server = start_postgres(datadir, {"shared_buffers": "16MB"})
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
        os.kill(server.child.process.pid, signal.SIGKILL)
        server.child.process.wait()
    server = start_postgres(datadir, {"shared_buffers": "16MB"})
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    server.stop()


def test_files_of_another_release_are_refused(datadir: DataDir):
    start_postgres(datadir, QUICK).stop()
    (datadir.postgres / "PG_VERSION").write_text("12\n")
    with pytest.raises(PostgresFailed, match="PostgreSQL 12"):
        start_postgres(datadir, QUICK)


def test_no_folder_that_was_there_changes_its_permissions(datadir: DataDir):
    above = [*datadir.root.parents, *datadir.store.parents, *Path(psycopg.__file__).parents]
    before = {folder: folder.stat().st_mode for folder in above if folder.exists()}
    start_postgres(datadir, QUICK).stop()
    assert {folder: folder.stat().st_mode for folder in before} == before

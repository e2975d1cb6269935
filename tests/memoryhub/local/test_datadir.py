from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from memoryhub.local.datadir import (
    SOCKET_BYTES,
    DataDirUnwritable,
    ForeignDataDir,
    check,
    locate,
    prepare,
    write_private,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_private_and_marked(tmp_path: Path):
    datadir = prepare(tmp_path / "new" / "hub")
    assert mode(datadir.root) == 0o700
    assert mode(datadir.marker) == 0o600
    assert json.loads(datadir.marker.read_text())["id"] == datadir.id


def test_the_addresses_are_known_before_anything_runs_and_stay(tmp_path: Path):
    before = locate(tmp_path / "hub")
    assert prepare(tmp_path / "hub") == before == locate(tmp_path / "hub")
    assert str(before.run) in before.database_url
    assert str(before.run) in before.broker_url


def test_a_moved_folder_keeps_its_id(tmp_path: Path):
    before = prepare(tmp_path / "hub")
    (tmp_path / "hub").rename(tmp_path / "moved")
    assert locate(tmp_path / "moved").id == before.id


def test_permissions_of_folders_that_were_there_stay(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    hub = home / "hub"
    hub.mkdir(mode=0o750)
    hub.chmod(0o750)
    prepare(hub)
    assert (mode(home), mode(hub)) == (0o700, 0o750)


def test_a_folder_with_something_else_in_it_is_refused_and_untouched(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ForeignDataDir, match="not a hub's data folder"):
        prepare(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("marker", ["{", "[]", '{"id": "000000000000"}', '{"format": 99, "id": "000000000000"}'])
def test_a_marker_that_is_not_ours_is_refused(tmp_path: Path, marker: str):
    (tmp_path / "memoryhub.json").write_text(marker)
    with pytest.raises(ForeignDataDir):
        check(tmp_path)


def test_a_file_in_the_way_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "hub"):
        with pytest.raises(DataDirUnwritable, match="is a file"):
            check(place)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_closed_folder_is_refused(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataDirUnwritable, match="cannot be written"):
        check(tmp_path / "hub")


def test_a_place_where_nothing_can_be_made_is_refused():
    with pytest.raises(DataDirUnwritable):
        prepare(Path("/proc/hub"))


@pytest.mark.parametrize("name", ["long" * 40, "with space", "frage?"])
def test_sockets_lie_where_their_path_fits_and_needs_no_quoting(tmp_path: Path, name: str, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    datadir = locate(tmp_path / name)
    assert len(str(datadir.run / ".s.PGSQL.5432.lock").encode()) <= SOCKET_BYTES
    assert datadir.store == tmp_path / name
    assert datadir.storage == [str(tmp_path / name)]
    assert str(datadir.run) in datadir.broker_url


def test_a_private_file_is_replaced_whole(tmp_path: Path):
    write_private(tmp_path / "secret", "one")
    write_private(tmp_path / "secret", "two")
    assert (tmp_path / "secret").read_text() == "two"
    assert mode(tmp_path / "secret") == 0o600
    assert len(list(tmp_path.iterdir())) == 1


def test_keys_may_be_brought_before_the_data(tmp_path: Path):
    """A new machine gets its keys first; a restore brings what they open."""
    (tmp_path / "keys.json").write_text("{}")
    assert prepare(tmp_path).marker.exists()

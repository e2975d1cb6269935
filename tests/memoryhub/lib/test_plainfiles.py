"""What is no ordinary file is never opened for long, and never read beyond what was allowed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from memoryhub.lib.plainfiles import FileNotOrdinary, files_below, is_ordinary, ordinary_size, read_within


def test_files_and_links_to_them(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"four")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert ordinary_size(tmp_path / "b") == 4
    assert is_ordinary(tmp_path / "a") and not is_ordinary(tmp_path / "b")
    assert read_within(tmp_path / "a", 4) == b"four" and read_within(tmp_path / "a", 3) is None


def test_what_never_ends_is_not_read(tmp_path: Path):
    """A pipe without a writer, a device, a socket: refused at once, also when it is opened without a look."""
    os.mkfifo(tmp_path / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(FileNotOrdinary):
            ordinary_size(path)
        with pytest.raises(FileNotOrdinary):
            read_within(path, 10)
    with pytest.raises(FileNotOrdinary):
        ordinary_size(tmp_path / "s")
    listener.close()


def test_a_sparse_file_is_judged_by_what_it_would_be(tmp_path: Path):
    with (tmp_path / "big").open("wb") as file:
        file.truncate(1 << 40)
    assert read_within(tmp_path / "big", 1 << 20) is None


def test_what_grows_while_it_is_read_is_cut_off():
    """The size of such a file is said to be nothing."""
    assert read_within(Path("/proc/self/status"), 10) is None


def test_folders_without_what_is_hidden(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    for name in (".git/x", ".y", "b", "a"):
        (tmp_path / name).write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [path.name for path in files_below(tmp_path)] == ["a", "b"]

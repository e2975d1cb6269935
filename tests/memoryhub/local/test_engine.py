from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from memoryhub.local import engine
from memoryhub.local.systemuser import server_user


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL as somebody else")
def test_programs_below_a_closed_home_are_copied_not_opened(tmp_path: Path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    package = engine._package()
    (home / package.name).symlink_to(package)
    (home / f"{package.name}.libs").symlink_to(package.parent / f"{package.name}.libs")
    store = Path("/var/lib/memoryhub-test-engine")
    monkeypatch.setattr(engine, "SYSTEM_STORE", store)
    monkeypatch.setattr(engine, "_package", lambda: home / package.name)
    user = server_user()
    try:
        folder = engine.programs(user)
        assert folder.is_relative_to(store)
        assert home.stat().st_mode & 0o777 == 0o700
        words = [str(folder / "initdb"), "--version"]
        shown = subprocess.run(
            words, user=user, group=user, extra_groups=[], capture_output=True, text=True, check=True
        )
        assert str(engine.MAJOR) in shown.stdout
        assert engine.programs(user) == folder
    finally:
        subprocess.run(["rm", "-rf", str(store)], check=True)

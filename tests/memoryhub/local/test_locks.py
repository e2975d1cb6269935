from __future__ import annotations

from memoryhub.local.datadir import DataDir
from memoryhub.local.locks import ServerLock, hub_lock, hub_runs


def test_a_hub_runs_while_it_holds_the_folder_and_no_longer(datadir: DataDir):
    assert not hub_runs(datadir)
    with hub_lock(datadir):
        assert hub_runs(datadir)
    assert not hub_runs(datadir)


def test_a_command_is_no_hub(datadir: DataDir):
    lock = ServerLock(datadir, "command")
    assert lock.try_acquire()
    assert not hub_runs(datadir)
    lock.release()

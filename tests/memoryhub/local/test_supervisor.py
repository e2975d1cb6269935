from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from memoryhub.local.processes import Child, Command, start
from memoryhub.local.supervisor import RESTARTS, KeepsEnding, Supervisor, stop_signals

SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_what_ends_again_and_again_is_given_up(tmp_path: Path):
    said: list[str] = []
    supervisor = Supervisor(said.append)
    command = Command(name="web", words=[sys.executable, "-c", "raise SystemExit(3)"], log=tmp_path / "log")
    supervisor.keep(lambda: start(command), stage=1)
    with pytest.raises(KeepsEnding, match="web keeps ending"):
        supervisor.watch()
    supervisor.stop()
    assert said == ["web ended (exit code 3); starting it again."] * RESTARTS


def test_what_was_killed_is_started_again_and_a_signal_stops_all_of_it_in_order(tmp_path: Path):
    begun: list[Child] = []
    stopped: list[str] = []
    supervisor = Supervisor(lambda _: os.kill(os.getpid(), signal.SIGTERM))

    class Noted(Child):
        def stop(self) -> None:
            super().stop()
            stopped.append(self.command.name)

    def begin(name: str) -> Child:
        child = start(Command(name=name, words=SLEEPER, log=tmp_path / name))
        begun.append(Noted(child.command, child.process))
        return begun[-1]

    with stop_signals():
        supervisor.keep(lambda: begin("server"), stage=1)
        supervisor.keep(lambda: begin("web"), stage=2)
        begun[0].process.kill()
        with pytest.raises(KeyboardInterrupt):
            supervisor.watch()
        supervisor.stop()
    assert stopped == ["web", "server"]
    assert all(child.exit_code is not None for child in begun)
    assert threading.active_count() >= 1

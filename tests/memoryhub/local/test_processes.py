from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil

from memoryhub.env import BASE_DIR
from memoryhub.local.processes import Command, start

STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
print("here", flush=True)
time.sleep(60)
"""


def wait_for_text(path: Path, text: str) -> None:
    pause = threading.Event()
    for _ in range(3000):
        if text in path.read_text():
            return
        pause.wait(0.01)
    raise AssertionError(f"{text!r} never came")


def test_a_child_that_will_not_stop_is_ended_with_its_group(tmp_path: Path):
    words = [sys.executable, "-c", STUBBORN]
    child = start(Command(name="stubborn", words=words, log=tmp_path / "log", patience=0.2))
    wait_for_text(tmp_path / "log", "here")
    family = [psutil.Process(child.process.pid), *psutil.Process(child.process.pid).children()]
    assert len(family) == 2
    child.stop()
    assert child.exit_code == -signal.SIGKILL
    _, alive = psutil.wait_procs(family, timeout=30)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]


def test_a_child_leaves_when_its_parent_is_killed(tmp_path: Path):
    script = (
        "import pathlib, sys; from memoryhub.local.processes import Command, start\n"
        "words = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "child = start(Command(name='child', words=words, log=pathlib.Path(sys.argv[1])))\n"
        "print(child.process.pid, flush=True); child.process.wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True, cwd=BASE_DIR
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    _, alive = psutil.wait_procs([child], timeout=30)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]

"""Child processes that cannot outlive the hub: started here, stopped here, and gone when their parent is killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LOG_BYTES = 20 * 1024 * 1024
SUPERVISED = "MEMORYHUB_SUPERVISED"
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Command:
    """What to run and how it likes to be stopped."""

    name: str
    words: Sequence[str]
    log: Path
    environment: Mapping[str, str] | None = None
    user: str | None = None
    folder: Path | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL  # what it gets when the hub is killed
    patience: float = 10.0


@dataclass
class Child:
    """A running command; it has a process group of its own, so Ctrl-C in a terminal reaches only the hub itself."""

    command: Command
    process: subprocess.Popen[bytes] = field(repr=False)
    was_asked: bool = False

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self.process.poll()

    def ask_to_stop(self) -> None:
        """Send the signal it likes, once."""
        if not self.was_asked and self.process.poll() is None:
            self.was_asked = True
            self.process.send_signal(self.command.stop_signal)

    def stop(self) -> None:
        """Ask, wait its patience, then end its whole group."""
        self.ask_to_stop()
        if self.process.poll() is None:
            try:
                self.process.wait(self.command.patience)
            except subprocess.TimeoutExpired:
                self.kill()
        self.kill()  # whatever of its group is still there

    def kill(self) -> None:
        """End the whole group at once and take note of it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(command: Command) -> Child:
    """Start a command whose output goes to its log. Call it in the main thread: a child leaves with its *thread*."""
    if command.log.exists() and command.log.stat().st_size > LOG_BYTES:
        command.log.replace(command.log.with_suffix(".log.1"))
    with command.log.open("ab") as log:
        process = subprocess.Popen(
            list(command.words),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=command.folder,
            env=None if command.environment is None else dict(command.environment),
            user=command.user,
            group=command.user,
            extra_groups=[] if command.user else None,
            process_group=0,
            preexec_fn=_leave_with(os.getpid(), command.death_signal),  # runs after the user has changed, as it must
        )
    return Child(command, process)


def leave_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Ask Linux to end this process when its parent ends; only where ``up`` is the ancestor."""
    if os.environ.get(SUPERVISED):
        _set_death_signal(signal_number)
        if os.getppid() == 1 and os.environ[SUPERVISED] != "1":
            os._exit(1)  # the parent was gone before the question was asked


def leave_with_launcher() -> None:
    """Stop the hub when the ``uv run`` that started it is killed; any other parent may leave."""
    comm = Path(f"/proc/{os.getppid()}/comm")
    if comm.exists() and comm.read_text().strip() == "uv":
        _set_death_signal(signal.SIGTERM)


def _leave_with(parent: int, signal_number: int) -> Callable[[], None]:
    def before_exec() -> None:
        _set_death_signal(signal_number)
        if os.getppid() != parent:
            os._exit(1)

    return before_exec


def _set_death_signal(signal_number: int) -> None:
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)

"""The hub as its owner meets it: a command in a terminal."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg
import pytest

from memoryhub.env import BASE_DIR
from memoryhub.local.datadir import DataDir, locate, prepare
from memoryhub.local.postgres import answers, start_postgres
from memoryhub.local.store import discard
from memoryhub.local.valkey import is_answering, start_valkey

pytestmark = pytest.mark.slow
SECONDS = 300


class Hub:
    """One ``manage.py up``, its lines as they come, and its descendants as they were when it got ready."""

    def __init__(self, data: Path, *options: str, **environment: str) -> None:
        self.data, self.port = data, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        words = [sys.executable, "manage.py", "up", "--port", str(self.port), "--data", str(data), *options]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMORYHUB_")}
        for name in ("DATABASE_URL", "BROKER_URL"):
            clean.pop(name, None)
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=BASE_DIR, env=clean | environment
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.said: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()
        self.family: list[psutil.Process] = []

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.lines.put(line)
        self.lines.put(None)

    def ready(self) -> Hub:
        self.hear("Ctrl-C stops everything")
        self.family = psutil.Process(self.process.pid).children(recursive=True)
        return self

    def hear(self, text: str) -> str:
        while (line := self.lines.get(timeout=SECONDS)) is not None:
            self.said.append(line)
            if text in line:
                return line
        raise AssertionError(f"{text!r} was never said, but:\n{''.join(self.said)}{self.logs()}")

    def logs(self) -> str:
        return "\n".join(path.read_text()[-2000:] for path in sorted((self.data / "logs").glob("*.log")))

    def names(self) -> set[str]:
        found = set()
        for each in self.family:
            with suppress(psutil.NoSuchProcess):  # PostgreSQL's own children come and go
                found.add(Path(each.exe()).name)
        return found

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)

    def survivors(self) -> list[psutil.Process]:
        _, alive = psutil.wait_procs(self.family, timeout=60)
        return [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]

    def get(self, path: str, key: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx2.get(self.url + path, headers=headers, timeout=10).raise_for_status().json()

    def bootstrap(self) -> dict[str, Any]:
        told = json.loads((self.data / "bootstrap.json").read_text())
        assert isinstance(told, dict)
        return told


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def bytecode(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many short processes: compile the code once for all of them, also where Python was told not to keep it."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "bytecode"))


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A place for a hub; whatever it made there or elsewhere is gone afterwards."""
    yield tmp_path / "hub"
    for folder in (tmp_path / "hub", tmp_path / "servers"):
        if folder.exists():
            discard(locate(folder))


@pytest.fixture
def hubs(data: Path) -> Iterator[list[Hub]]:
    """Hubs a test started, ended at its end whatever happened."""
    started: list[Hub] = []
    yield started
    for hub in started:
        if hub.process.poll() is None:
            hub.stop(signal.SIGTERM)


def begin(hubs: list[Hub], data: Path, *options: str, **environment: str) -> Hub:
    hubs.append(Hub(data, *options, **environment))
    return hubs[-1]


def refused(data: Path, *options: str, **environment: str) -> str:
    """What a start says that must not work."""
    hub = Hub(data, *options, **environment)
    assert hub.process.wait(SECONDS) == 1
    while (line := hub.lines.get(timeout=SECONDS)) is not None:
        hub.said.append(line)
    assert len(hub.said) == 1, "".join(hub.said)
    return hub.said[0]


def test_first_start_second_start_and_ctrl_c(data: Path, hubs: list[Hub]):
    """STA-01, STA-02, STA-03, STA-05: one command starts it all, tells its owner, stops, and finds its data."""
    hub = begin(hubs, data).ready()
    told = hub.bootstrap()
    assert set(told) == {"url", "admin_username", "admin_password", "api_key", "vault", "storage"}
    assert told["url"] == hub.url
    assert all(Path(folder).is_dir() for folder in told["storage"])
    assert stat.S_IMODE((data / "bootstrap.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((data / "keys.json").stat().st_mode) == 0o600
    said = "".join(hub.said)
    assert all(str(told[name]) in said for name in ("url", "admin_username", "admin_password", "api_key"))
    assert "curl" in said

    assert hub.get("/health/ready")["status"] == "ready"
    assert hub.get("/api/v1/whoami", told["api_key"])
    assert {"postgres", "valkey-server"} <= hub.names()
    keys = (data / "keys.json").read_text()

    command = [sys.executable, "manage.py", "create_vault", "Second", "--json"]
    environment = os.environ | {"MEMORYHUB_DATA": str(data)}
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BASE_DIR, env=environment)
    second = json.loads(made.stdout)
    assert hub.get("/api/v1/whoami", second["api_key"])

    assert hub.stop(signal.SIGINT) == 0
    assert hub.survivors() == []

    again = begin(hubs, data, "--no-worker").ready()
    assert again.bootstrap() == told | {"url": again.url}
    assert (data / "keys.json").read_text() == keys
    assert again.get("/api/v1/whoami", told["api_key"])
    assert again.get("/api/v1/whoami", second["api_key"])
    assert again.stop(signal.SIGTERM) == 0
    assert again.survivors() == []

    made = subprocess.run(
        [*command[:3], "Third", "--json"], capture_output=True, text=True, check=True, cwd=BASE_DIR, env=environment
    )
    assert set(json.loads(made.stdout)) >= {"vault", "api_key"}
    assert not answers(locate(data).database_url)


def test_nothing_outlives_a_hub_that_is_killed(data: Path, hubs: list[Hub]):
    """STA-05, also for kill -9; the next start repairs and goes on."""
    hub = begin(hubs, data).ready()
    hub.process.kill()
    hub.process.wait()
    assert hub.survivors() == []
    again = begin(hubs, data, "--no-worker").ready()
    assert again.get("/api/v1/whoami", hub.bootstrap()["api_key"])


def test_what_ends_by_accident_is_started_again(data: Path, hubs: list[Hub]):
    """DEG-14: the database and the broker may fall over without anybody coming to help."""
    hub = begin(hubs, data, "--no-worker").ready()
    for name in ("postgres", "valkey-server"):
        server = next(
            each
            for each in psutil.Process(hub.process.pid).children()
            if Path(each.exe()).name == name and each.ppid() == hub.process.pid
        )
        server.kill()
        hub.hear("starting it again")
    datadir = locate(data)
    wait_for(lambda: answers(datadir.database_url) and is_answering(datadir.broker_socket))
    wait_for(lambda: httpx2.get(f"{hub.url}/health/ready", timeout=10).status_code == 200)


def wait_for(condition: Any) -> None:
    done = threading.Event()
    for _ in range(SECONDS * 10):
        if condition():
            return
        done.wait(0.1)
    raise AssertionError("it never came true")


def test_servers_of_ones_own_are_used_and_none_started(data: Path, hubs: list[Hub], tmp_path: Path):
    """STA-04: DATABASE_URL and BROKER_URL."""
    own: DataDir = prepare(tmp_path / "servers")
    database, broker = start_postgres(own), start_valkey(own)
    try:
        environment = {"DATABASE_URL": database.url, "BROKER_URL": broker.url}
        hub = begin(hubs, data, **environment).ready()
        assert not {"postgres", "valkey-server"} & hub.names()
        assert hub.bootstrap()["storage"] == [str(data)]
        with psycopg.connect(database.url) as connection:
            assert connection.execute("SELECT count(*) FROM banks_vault").fetchone() == (1,)
        assert hub.stop() == 0
        assert hub.survivors() == []
        (data / "keys.json").rename(data / "elsewhere.json")
        assert "encryption key 1" in refused(data, **environment)
        assert not (data / "keys.json").exists()
    finally:
        broker.stop()
        database.stop()


def test_a_key_that_is_missing_or_wrong_is_refused_by_id(data: Path, hubs: list[Hub]):
    """ENC-11: the store stays closed rather than half readable, and nothing is changed."""
    begin(hubs, data, "--no-worker").ready().stop()
    before = (data / "keys.json").read_text()
    wrong = json.loads(before) | {"keys": {"1": "A" * 43 + "="}}
    (data / "keys.json").write_text(json.dumps(wrong))
    assert "ncryption key 1 is not the one" in refused(data)
    (data / "keys.json").unlink()
    assert "encryption key 1" in refused(data)
    assert not (data / "keys.json").exists()
    (data / "keys.json").write_text(before)
    assert begin(hubs, data, "--no-worker").ready().stop() == 0


def test_a_port_in_use_is_refused_with_nothing_made(data: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"Port {port}" in refused(data, "--port", str(port))
    assert not data.exists()


def test_a_foreign_folder_is_refused_untouched(data: Path):
    data.mkdir()
    (data / "thesis.tex").write_text("x")
    assert "not a hub's data folder" in refused(data)
    assert [each.name for each in data.iterdir()] == ["thesis.tex"]


def test_a_place_that_cannot_be_written_is_refused(data: Path):
    data.write_text("a file")
    assert "is a file" in refused(data)
    data.unlink()


def test_two_hubs_on_one_folder_are_refused(data: Path, hubs: list[Hub]):
    begin(hubs, data, "--no-worker").ready()
    assert "in use" in refused(data)


def test_what_the_environment_has_wrong_is_one_sentence(data: Path):
    """CFG-01."""
    assert "MEMORYHUB_WEB_THREADS" in refused(data, MEMORYHUB_WEB_THREADS="many")

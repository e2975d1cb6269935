"""The client by itself: what `pip install` of this repository gives, and that it needs little else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.tree import ROOT

#: anyio, httpx2, pydantic and cryptography, with what these need.
NEEDED = (
    "annotated_types anyio certifi cffi cryptography h11 httpcore2 httpx2 idna pydantic pydantic_core sniffio "
    "truststore typing_extensions typing_inspection _cffi_backend"
)
PROGRAM = """
import sys
from importlib.machinery import PathFinder

class Missing:
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path)
        if spec and "site-packages" in str(spec.origin) and name.partition(".")[0] not in allowed:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)

allowed = set(sys.argv[1].split())
sys.meta_path.insert(0, Missing())
import memoryhub.client
for name in memoryhub.client.__all__:
    getattr(memoryhub.client, name)
ours = [each.__file__ for name, each in sys.modules.items() if name.partition(".")[0] in ("memories", "memoryhub")]
print(*ours)
"""
#: A first script, far away from the checkout.
FIRST_SCRIPT = """
import asyncio
from memoryhub.client import AsyncMemoryHub, MemoryHub, SQLiteMemoryStore, HumanMemory, EncryptedMemoryStore

with MemoryHub() as hub:
    print(hub.write_memory("Takes the tram to work.", bank="Work").outcome)

async def more():
    async with AsyncMemoryHub() as hub:
        print((await hub.search_memories("how to work?")).results[0].text)
    store = EncryptedMemoryStore(SQLiteMemoryStore(), secret="a long random secret")
    await store.add(HumanMemory(content="High tides at noon."))
    print([item.content for item in await store.search(query="tide")])

asyncio.run(more())
"""
SAID = "created\nTakes the tram to work.\n['High tides at noon.']\n"
PYTHONS = ("3.12", "3.13", "3.14")


def test_it_needs_no_django_and_nothing_else_of_the_server():
    """With every other package away it is imported; what of ours came along is what the wheel holds, and rules."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, NEEDED]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    loaded = {Path(path).relative_to(ROOT).as_posix() for path in outcome.stdout.split()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = set(project["tool"]["hatch"]["build"]["only-include"])
    folders = {"memories/rules", "memoryhub/client"}
    beside = {path for path in loaded if not any(path.startswith(f"{folder}/") for folder in folders)}
    assert packed == beside | folders | {"memoryhub/py.typed", "memories/py.typed"}
    assert all(re.match(r"memories/(__init__|rules/)|memoryhub/(__init__|lib/|client/)", path) for path in loaded)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], ROOT)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_installed_elsewhere_it_calls_a_hub(version: str, wheel: Path, tmp_path: Path, live_server: Any, secret: str):
    """In an environment of its own, with every Python of this machine it is made for."""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        pytest.skip("needs uv")
    found = subprocess.run(
        [uv, "python", "find", "--no-python-downloads", version], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        pytest.skip(f"there is no Python {version} here")
    _run([uv, "venv", "--quiet", "--python", found.stdout.split()[-1], str(tmp_path / "here")], ROOT)
    python = str(tmp_path / "here" / "bin" / "python")
    _run([uv, "pip", "install", "--quiet", "--python", python, str(wheel)], ROOT)
    listed = _run([uv, "pip", "list", "--quiet", "--python", python, "--format", "freeze"], ROOT)
    names = {line.partition("==")[0].replace("-", "_") for line in listed.splitlines()}
    assert {"memoryhub", "httpx2", "pydantic"} <= names <= {"memoryhub", "pycparser", *NEEDED.split()}
    (tmp_path / "first.py").write_text(FIRST_SCRIPT, encoding="utf-8")
    hub = {"MEMORYHUB_URL": live_server.url, "MEMORYHUB_KEY": secret}
    assert _run([python, "-W", "error", "first.py"], tmp_path, hub) == SAID


def _run(command: list[str], folder: Path, more: dict[str, str] | None = None) -> str:
    """What it printed. Without the variables by which a checkout's environment would be found again."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    outcome = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**kept, **(more or {})}, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout

"""Every example of the documentation is run, in order, against a live hub; what it prints is what the page says."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

import memoryhub.client
from banks.access import Access
from memories.management.demo.loading import tell
from memories.models import DuplicatePair, Job
from memories.services.running import run_job
from memoryhub.client.defaulthub import shared_hub
from memoryhub.lib.sealing import gate
from tests.contracts.tree import ROOT

_SAYS = re.compile(r"(?:\)  # → |^# prints: )(.+)$", re.MULTILINE)


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def reader(live_server: Any, secret: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The environment of somebody who follows the page; the address of the hub."""
    monkeypatch.setenv("MEMORYHUB_URL", live_server.url)
    monkeypatch.setenv("MEMORYHUB_KEY", secret)
    told = {name: str(value) for name, value in connection.get_connection_params().items() if name in _CONNECTION}
    monkeypatch.setenv("MY_DATABASE", make_conninfo(**told, options="-c search_path=documented"))
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA documented")
    shared_hub.cache_clear()
    try:
        yield live_server.url
    finally:
        if shared_hub.cache_info().currsize:
            shared_hub().close()
        shared_hub.cache_clear()
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA documented CASCADE")


_CONNECTION = {"dbname", "host", "port", "user", "password"}


def work() -> None:
    """What the hub's worker does meanwhile."""
    for job in list(Job.objects.filter(state="pending").order_by("created_at")):
        run_job(job.pk)


def run(block: str, names: dict[str, Any]) -> None:
    code = compile(block, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:

        async def example() -> None:
            await eval(code, names)

        asyncio.run(example())
    else:
        exec(code, names)
    work()


@pytest.fixture
def filled(access: Access, reader: str, secret: str) -> None:
    """The sample vault, and what somebody has written who began with the README."""
    with gate.session():
        tell(access.vault)
    for block in blocks("README.md", ""):
        if "curl" in block:
            run_for_a_shell(block, reader, secret)
    work()


@pytest.mark.parametrize("document", ["docs/client.md", "docs/agents.md", "README.md"])
@pytest.mark.parametrize("hub", ["empty", pytest.param("filled", marks=pytest.mark.slow)])
def test_the_examples_do_what_they_say(
    document: str, hub: str, reader: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
):
    """Also where much is known already; and nothing of it waits for a person afterwards."""
    if hub == "filled":
        request.getfixturevalue("filled")
        capsys.readouterr()
    waiting = DuplicatePair.objects.count()
    names: dict[str, Any] = {}
    found = blocks(document, "python")
    assert found
    try:
        check(found, names, capsys)
    finally:
        if "hub" in names:
            names["hub"].close()
    assert DuplicatePair.objects.count() == waiting


def check(found: list[str], names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    for block in found:
        run(block, names)
        said = capsys.readouterr().out.splitlines()
        assert _each_once(said) == _each_once(_SAYS.findall(block)), block


def _each_once(lines: list[str]) -> list[str]:
    """What a loop prints every time is on the page once."""
    return list(dict.fromkeys(lines))


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("document", ["docs/agents.md", "README.md"])
def test_the_lines_for_a_shell_are_answered(document: str, reader: str, secret: str):
    """Each call of the page, with its address and key, is a success."""
    calls = [block for block in blocks(document, "") if "curl" in block]
    assert calls
    for block in calls:
        run_for_a_shell(block, reader, secret)


def run_for_a_shell(block: str, address: str, secret: str) -> None:
    script = block.replace("http://localhost:8000", address).replace("KEY=mh_live_…", f"KEY={secret}")
    script = script.replace("curl -s", "curl -sS --fail-with-body")
    outcome = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_every_name_has_an_example():
    """Each public name is used on the page, in lines that run: imported there, and something done with it."""
    used = Counter(
        node.id
        for block in blocks("docs/client.md", "python")
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Name)
    )
    assert [name for name in memoryhub.client.__all__ if not used[name]] == []

"""The bench runs from end to end on a tiny vault. What it measures here means nothing; that it measures does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import psutil
import pytest
from django.core.management import CommandError, call_command

from memories.management.bench.client import HubClient
from memories.management.bench.hub import throwaway_hub
from memories.management.bench.load import fill, held
from memories.management.bench.words import Author
from memories.management.commands.bench import Command


def test_a_url_without_its_key_is_refused():
    with pytest.raises(CommandError, match="--url and --key together"):
        call_command(Command(), "write", url="http://127.0.0.1:1")


def test_a_hub_that_does_not_answer_is_one_sentence():
    with pytest.raises(CommandError, match="does not answer"):
        call_command(Command(), "write", url="http://127.0.0.1:1", key="x", stderr=io.StringIO())


@pytest.mark.slow
def test_the_whole_bench_runs_on_a_tiny_vault(tmp_path: Path):
    report, screen = tmp_path / "bench.json", io.StringIO()
    call_command(Command(), "write", "search", "list", memories=60, requests=20, json=report, stdout=screen)

    numbers = json.loads(report.read_text())["numbers"]
    measured = {name.rsplit(".", 1)[0] for name in numbers}
    assert measured >= {"floor", "fill", "write.one", "write.four", "batch", "search", "neighbours", "memory"}
    assert measured >= {"list.page", "list.filtered", "list.facets", "list.text", "list.next_pages"}
    assert all(value > 0 for value in numbers.values() if value is not numbers["fill.jobs_seconds"])
    assert numbers["fill.created_share"] > 0.9
    assert numbers["memory.web_mb"] > 10 and numbers["memory.worker_mb"] > 10
    assert "60 memories in one vault" in screen.getvalue()


@pytest.mark.slow
def test_a_throwaway_hub_leaves_nothing_behind():
    with throwaway_hub() as hub:
        with HubClient(hub.url, hub.key) as client:
            assert fill(client, Author(), 10, lambda more: None).created == 10
            assert held(client) == 10
            assert fill(client, Author(), 10, lambda more: None).written == 0
        assert hub.process is not None and hub.database_url is not None
        family = [psutil.Process(hub.process), *psutil.Process(hub.process).children(recursive=True)]
        data = Path(hub.database_url.partition("host=")[2]).parent
        assert data.exists()
    assert not [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]
    assert not data.exists()

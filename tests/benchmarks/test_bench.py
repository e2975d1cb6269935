"""The bench runs from end to end on a tiny vault. What it measures here means nothing; that it measures does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import psutil
import pytest
from django.core.management import CommandError, call_command

from memories.management.bench.client import BenchFailed, HubClient
from memories.management.bench.hub import throwaway_hub
from memories.management.bench.layout import Kept, Layout, read_note, write_note
from memories.management.bench.load import fill, held
from memories.management.bench.words import Author
from memories.management.commands.bench import Command
from memoryhub.local.datadir import locate
from memoryhub.local.store import discard


def test_a_url_without_its_key_is_refused():
    with pytest.raises(CommandError, match="--url and --key together"):
        call_command(Command(), "write", url="http://127.0.0.1:1")


def test_a_hub_that_does_not_answer_is_one_sentence():
    with pytest.raises(CommandError, match="does not answer"):
        call_command(Command(), "write", url="http://127.0.0.1:1", key="x", stderr=io.StringIO())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"what": ["write"], "vaults": 2}, "Writing is measured in one vault"),
        ({"what": ["search"], "vaults": 2, "url": "http://x", "key": "k"}, "neither --keep nor --vaults"),
    ],
)
def test_what_does_not_go_together_is_refused(words, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command(Command(), *words.pop("what"), **words)


def test_a_store_is_known_again_and_not_taken_for_another(tmp_path: Path):
    kept = Kept(Layout(300, vaults=4), ["one", "two"], {"fill.per_second": 7.5})
    assert read_note(tmp_path, kept.layout) is None
    write_note(tmp_path, kept)
    assert read_note(tmp_path, Layout(300, vaults=4)) == kept
    assert "one" not in repr(kept)
    with pytest.raises(BenchFailed, match="holds 4 vaults of 300"):
        read_note(tmp_path, Layout(301, vaults=4))


@pytest.mark.slow
def test_a_store_of_many_vaults_is_filled_once_and_measured_again(tmp_path: Path):
    data, report = tmp_path / "store", tmp_path / "bench.json"
    words = {"keep": data, "vaults": 3, "memories": 40, "requests": 12, "json": report, "stdout": io.StringIO()}
    try:
        call_command(Command(), "fill", **words)
        filled = json.loads(report.read_text())["numbers"]
        call_command(Command(), "search", **words)
        numbers = json.loads(report.read_text())["numbers"]
    finally:
        discard(locate(data))
    assert filled["fill.created_share"] == 1.0
    assert filled.items() <= numbers.items()
    measured = {name.rsplit(".", 1)[0] for name in numbers}
    assert measured >= {"search", "search.first", "alone.search", "search.stage.keyword"}
    assert numbers["search.times_alone"] > 0 and numbers["size.vectors_mb"] > 0


@pytest.mark.slow
def test_the_whole_bench_runs_on_a_tiny_vault(tmp_path: Path):
    report, screen = tmp_path / "bench.json", io.StringIO()
    call_command(Command(), "write", "search", "list", memories=60, requests=20, json=report, stdout=screen)

    numbers = json.loads(report.read_text())["numbers"]
    measured = {name.rsplit(".", 1)[0] for name in numbers}
    assert measured >= {"floor", "fill", "write.one", "write.four", "batch", "search", "neighbours", "memory"}
    assert measured >= {"search.filtered", "search.one_user", "search.one_session", "search.common_words", "size"}
    assert measured >= {"list.page", "list.filtered", "list.facets", "list.text", "list.next_pages"}
    assert all(value > 0 for name, value in numbers.items() if name not in {"fill.jobs_seconds", "size.graphs_mb"})
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


@pytest.mark.slow
def test_a_search_over_mcp_costs_little_more_than_over_rest(tmp_path: Path):
    """The aim is 2.5 times on a filled vault; on this tiny one the protocol weighs most."""
    report = tmp_path / "bench.json"
    call_command(Command(), "mcp", memories=120, requests=60, json=report, stdout=io.StringIO())
    numbers = json.loads(report.read_text())["numbers"]
    assert {"mcp.rest.p50_ms", "mcp.handshake.p50_ms", "mcp.stateless.p50_ms"} <= numbers.keys()
    assert 0 < numbers["mcp.times_rest"] < 4

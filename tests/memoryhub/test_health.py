"""Alive, ready, measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from memories.search.distribution import forget_counts
from memoryhub import health
from memoryhub.env import BASE_DIR
from memoryhub.lib import broker
from memoryhub.lib.ids import new_id
from memoryhub.lib.metrics import exposition
from tests.conftest import ApiClient


@pytest.fixture(autouse=True)
def _ask_again() -> None:
    health._require_migrations.cache_clear()


def test_alive_asks_nothing(client: Client):
    """Without a database mark, any query here would raise."""
    answer = client.get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "live"})
    assert client.post("/health/live").status_code == 405


@pytest.mark.django_db
def test_ready_with_a_broker_away_is_degraded(client: Client):
    """DEG-14: writes go on without the broker, so the hub stays ready."""
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "degraded", "degraded": ["broker"]})
    assert "no-cache" in answer.headers["Cache-Control"]


@pytest.mark.django_db
def test_ready_with_a_broker(client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(broker, "answers", lambda url: url == settings.CELERY_BROKER_URL)
    assert client.get("/health/ready").json() == {"status": "ready", "degraded": []}


def test_a_socket_without_a_server_does_not_answer(tmp_path: Path):
    assert broker.answers(f"redis+socket://{tmp_path}/nobody.sock?virtual_host=0") is False


@pytest.mark.django_db
def test_not_ready_before_the_migrations_ran(client: Client):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'memories'")
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["failed"]) == (503, ["migrations"])
    assert answer.headers["Retry-After"]


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_cut_costs_one_request(api: ApiClient):
    """A database that went away: 503 with Retry-After and nothing changed; the next request has a new connection."""
    assert api.send("POST", "/memories", {"content": "Before."}).status_code == 201
    _cut()
    answer = api.send("POST", "/memories", {"content": "Meanwhile."})
    assert (answer.status_code, answer.json()["code"]) == (503, "database_away")
    assert int(answer.headers["Retry-After"]) > 0
    assert api.send("GET", "/memories").json()["total"] == 1
    _cut()
    assert api.get("/health/ready").status_code == 503
    assert api.get("/health/ready").status_code == 200
    _cut()
    page = api.get("/accounts/login/")
    assert page.status_code in {200, 503}
    assert api.send("POST", "/memories", {"content": "After."}).status_code in {201, 503}


def _cut() -> None:
    """What a restart of the server does to an open connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    options = connection.get_connection_params()
    where = {name: options[name] for name in ("dbname", "user", "host", "port", "password") if name in options}
    with psycopg.connect(**where, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_metrics_name_routes_and_no_ids(api: ApiClient):
    memory = api.send("POST", "/memories", {"content": "Measured swordfish."}).json()["memory"]
    api.send("GET", f"/memories/{memory['id']}")
    api.send("POST", "/memories/search", {"query": "swordfish"})
    text = api.get("/metrics").content.decode()
    assert 'memoryhub_http_requests_total{method="GET",route="api/v1/memories/<memory_id>",status="200"}' in text
    assert 'memoryhub_memories_written_total{outcome="created"}' in text
    assert "memoryhub_http_request_seconds_bucket" in text
    assert "memoryhub_searches_total" in text
    assert memory["id"] not in text
    assert "swordfish" not in text


def test_metrics_add_up_over_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """MET-02…06, MET-09: with PROMETHEUS_MULTIPROC_DIR the numbers come from the files of all processes."""
    script = (
        "from memoryhub.lib.metrics import EXTRACTION_SHORTCUTS, GUARD_ACTIVATIONS, LLM_CALLS_SKIPPED, "
        "MEMORIES_PRUNED, MEMORIES_SUMMARIZED\n"
        "EXTRACTION_SHORTCUTS.inc()\nMEMORIES_SUMMARIZED.inc()\nMEMORIES_PRUNED.labels('fifo').inc()\n"
        "GUARD_ACTIVATIONS.labels('chat').inc()\nLLM_CALLS_SKIPPED.labels('extract', 'guard_open').inc()\n"
    )
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    assert b"extraction_shortcuts" not in exposition()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script], check=True, cwd=BASE_DIR)
    text = exposition({"General": 3}).decode()
    for line in (
        "extraction_shortcuts_total 2.0",
        "memories_summarized_total 2.0",
        'memories_pruned_total{strategy="fifo"} 2.0',
        'error_guard_activations_total{service="chat"} 2.0',
        'llm_calls_skipped_total{purpose="extract",reason="guard_open"} 2.0',
        'memory_bank_distribution{bank="General"} 3.0',
    ):
        assert line in text


def test_the_store_is_counted_by_bank_and_never_by_user(api: ApiClient):
    """MET-01, MET-08: a bank somebody named says something about its vault."""
    api.send("POST", "/banks", {"name": "Swordfish"})
    for bank in ("Work", "Work", "Swordfish"):
        written = {"content": f"New {new_id()}", "bank": bank, "user_id": "mackerel", "dedup": False}
        api.send("POST", "/memories", written)
    forget_counts()
    text = api.get("/metrics").content.decode()
    assert 'memory_bank_distribution{bank="Work"} 2.0' in text
    assert 'memory_bank_distribution{bank="other"} 1.0' in text
    assert 'memory_bank_distribution{bank="Health"} 0.0' in text
    assert "Swordfish" not in text
    assert "mackerel" not in text

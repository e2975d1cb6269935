"""What runs, whether it is well, and every setting with who set it (CFG-02)."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import django
from django.conf import settings
from django.db import connection

from banks.access import ALL_SCOPES, KeyScope
from memories.rules.layers import DEFAULT, INFO
from memories.rules.vocabulary import JobState
from memories.services.jobs import count_jobs
from memories.services.settings import read_settings
from memories.web.history import in_words
from memories.web.modelcalls import guard_rows
from memories.web.rows import State
from memoryhub.lib import broker
from memoryhub.lib.pages import answer_page
from memoryhub.providers.base import ProviderError
from memoryhub.providers.registry import get_chat_model, get_embedder

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.access import Access
    from memories.web.requests import HubRequest

WELL, AWAY = State("Answers", "circle-check", "ok"), State("Does not answer", "triangle-alert", "bad")


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting with the value that holds."""

    key: str
    meaning: str
    value: str
    source: str
    is_default: bool
    planned: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A part the hub is made of, and how it is."""

    name: str
    what: str
    state: State


def system(request: HubRequest) -> HttpResponse:
    """Parts, versions, settings."""
    request.access.require(KeyScope.OPS_READ)
    guards = guard_rows(request.access)
    context = {
        "is_owner": request.access.scopes >= ALL_SCOPES,
        "vault": request.access.vault,
        "parts": _parts(request.access),
        "groups": _groups(request.access),
        "guards": guards,
        "may_reset": request.access.has(KeyScope.OPS_WRITE) and any(row.view.errors or row.is_open for row in guards),
    }
    return answer_page(request, "memories/system.html", context)


def _parts(access: Access) -> list[Part]:
    database, vector = _database_versions()
    jobs = count_jobs(access)
    waiting = jobs[JobState.PENDING] + jobs[JobState.RUNNING]
    tidy = State(f"{waiting} waiting", "clock", "note") if waiting else State("Nothing waits", "circle-check", "ok")
    failed = State(f"{jobs[JobState.DEAD]} failed", "triangle-alert", "bad")
    return [
        Part("Database", f"PostgreSQL {database}, pgvector {vector}", WELL),
        Part("Broker", "Valkey or Redis", WELL if broker.answers(settings.CELERY_BROKER_URL) else AWAY),
        Part("Embedder", *_embedder()),
        Part("Language model", *_chat_model()),
        Part("Jobs", "Work in the background", failed if jobs[JobState.DEAD] else tidy),
        Part("Web", f"Django {django.get_version()}, Python {platform.python_version()}", WELL),
    ]


def _database_versions() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        )
        server, vector = cursor.fetchone()
    return str(server).split(" ", maxsplit=1)[0], str(vector)


def _embedder() -> tuple[str, State]:
    try:
        embedder = get_embedder()
    except ProviderError as error:
        return error.message, AWAY
    if embedder is None:
        return "None: search is by words only", State("Off", "circle-dashed")
    place = "in this process" if embedder.local else "a service of its own"
    return f"{embedder.name}, {embedder.model}", State(f"Runs {place}", "circle-check", "ok")


def _chat_model() -> tuple[str, State]:
    try:
        model = get_chat_model()
    except ProviderError as error:
        return error.message, AWAY
    if model is None:
        return "None: nothing is asked of a model", State("Off", "circle-dashed")
    return f"{model.name}, {model.model}", State("Asked when a setting says so", "circle-check", "ok")


def _groups(access: Access) -> list[dict[str, Any]]:
    effective = read_settings(access)
    groups: dict[str, list[SettingLine]] = {}
    for key, info in INFO.items():
        value, source = effective[key]
        line = SettingLine(key, info.description, in_words(value), source, source == DEFAULT, info.planned)
        groups.setdefault(info.group.value, []).append(line)
    return [{"title": title, "lines": lines} for title, lines in groups.items()]

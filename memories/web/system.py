"""What runs, whether it is well, how much room it takes, and how the hub was set up."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

import django
from django.conf import settings
from django.db import connection

from banks.access import ALL_SCOPES, KeyScope
from memories.rules.vocabulary import JobState
from memories.search.sizes import read_sizes
from memories.services.jobs import count_jobs
from memories.web.modelcalls import guard_rows
from memories.web.rows import State
from memoryhub.env import configuration
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
class Part:
    """A part the hub is made of, and how it is."""

    name: str
    what: str
    state: State


def system(request: HubRequest) -> HttpResponse:
    """Parts and versions, guards, sizes; and for whoever runs the hub, its configuration."""
    request.access.require(KeyScope.OPS_READ)
    guards, is_operator = guard_rows(request.access), request.user.is_superuser
    context = {
        "is_owner": request.access.scopes >= ALL_SCOPES,
        "is_operator": is_operator,
        "vault": request.access.vault,
        "parts": _parts(request.access),
        "guards": guards,
        "may_reset": request.access.has(KeyScope.OPS_WRITE) and any(row.view.errors or row.is_open for row in guards),
        "sizes": read_sizes(request.access),
        "configuration": configuration() if is_operator else [],
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

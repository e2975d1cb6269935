"""Alive, ready, measured. These answers say a status and nothing about versions, hosts or data."""

from __future__ import annotations

import functools

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from memories.search.distribution import count_by_bank
from memoryhub.lib import broker
from memoryhub.lib.answers import RETRY_AFTER_SECONDS, json_answer
from memoryhub.lib.metrics import exposition
from memoryhub.middleware.faults import forget_broken_connections

log = structlog.get_logger(__name__)


class NotMigrated(Exception):
    """The schema is older than the code."""


@require_safe
@never_cache
def live(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers at all."""
    return json_answer({"status": "live"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> HttpResponse:
    """200 when the database answers and is migrated, else 503; a broker that is away only degrades (DEG-14)."""
    try:
        _ask_database()
        _require_migrations()
    except (DatabaseError, InterfaceError, NotMigrated) as error:
        forget_broken_connections()
        log.warning("health.not_ready", cause=type(error).__name__)
        part = "migrations" if isinstance(error, NotMigrated) else "database"
        headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        return json_answer({"status": "unavailable", "failed": [part]}, 503, headers)
    degraded = [] if broker.answers(settings.CELERY_BROKER_URL) else ["broker"]
    return json_answer({"status": "degraded" if degraded else "ready", "degraded": degraded})


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text format, added up over the processes; without the store's own numbers while it is away."""
    try:
        banks = count_by_bank()
    except (DatabaseError, InterfaceError):
        forget_broken_connections()
        banks = {}
    return HttpResponse(exposition(banks), content_type=CONTENT_TYPE_LATEST)


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@functools.cache  # remembers success only: a raised NotMigrated is asked again
def _require_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotMigrated


urlpatterns = [
    path("health/live", live),
    path("health/ready", ready),
    path("metrics", metrics),
]

"""The worker's entry: ``celery -A memoryhub.celery worker`` and ``… beat``."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery, signals

from memoryhub.env import secrets
from memoryhub.lib.workers import give_sign, take_off
from memoryhub.local.processes import leave_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
# Workers are several processes on shared cores: threads of one multiplication only wait for each other there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

app = Celery("memoryhub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.worker_process_init.connect
def _leave_with_the_worker(**_: Any) -> None:
    leave_with_parent()


@signals.worker_init.connect
def _refuse_without_keys(**_: Any) -> None:
    secrets()


@signals.heartbeat_sent.connect
def _give_sign(sender: Any, **_: Any) -> None:
    give_sign(app.conf.broker_url, sender.eventer.hostname)


@signals.worker_shutdown.connect
def _take_off(sender: Any, **_: Any) -> None:
    take_off(app.conf.broker_url, sender.hostname)


@signals.setup_logging.connect
def _keep_djangos_logging(**_: Any) -> None:
    """Connected so that Celery leaves the logging that the settings made alone."""

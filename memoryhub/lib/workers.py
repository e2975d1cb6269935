"""Who works: asked over the broker."""

from __future__ import annotations

from celery import current_app
from kombu.exceptions import OperationalError
from redis import RedisError


def answering_workers(seconds: float = 1.0) -> list[str]:
    """The names of the workers that answer within ``seconds``; none when the broker is away."""
    try:
        answers = current_app.control.ping(timeout=seconds)
    except (OperationalError, RedisError, OSError):
        return []
    return sorted(name for answer in answers or [] for name in answer)

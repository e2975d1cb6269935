"""Who works: asked over the broker, or known from the signs of life that workers leave there."""

from __future__ import annotations

import time
from dataclasses import dataclass

from celery import current_app
from kombu.exceptions import OperationalError
from redis import Redis, RedisError

from memoryhub.lib.broker import no_retry, redis_url

_SIGNS = "memoryhub:workers"
#: A worker that has not been heard of for so long is not counted.
SILENT_AFTER = 60.0
SIGN_EVERY = 10.0
_last_sign = 0.0


@dataclass(frozen=True, slots=True)
class BrokerView:
    """Whether the broker answers, how many workers gave a sign of life in the last minute, and the latest of them."""

    answers: bool
    workers: int = 0
    latest: float | None = None


def answering_workers(seconds: float = 1.0) -> list[str]:
    """The names of the workers that answer within ``seconds``; none when the broker is away."""
    try:
        answers = current_app.control.ping(timeout=seconds)
    except (OperationalError, RedisError, OSError):
        return []
    return sorted(name for answer in answers or [] for name in answer)


def give_sign(broker_url: str, name: str) -> None:
    """A worker says that it lives; at most every ten seconds, and never in its way."""
    global _last_sign
    if time.monotonic() - _last_sign < SIGN_EVERY:
        return
    _last_sign = time.monotonic()
    try:
        with _client(broker_url, 0.5) as client:
            client.zadd(_SIGNS, {name: time.time()})
            client.zremrangebyscore(_SIGNS, "-inf", time.time() - 3600)
    except (RedisError, OSError):
        return


def take_off(broker_url: str, name: str) -> None:
    """A worker that ends is not counted any more."""
    try:
        with _client(broker_url, 0.5) as client:
            client.zrem(_SIGNS, name)
    except (RedisError, OSError):
        return


def view_broker(broker_url: str, seconds: float = 0.25) -> BrokerView:
    """The broker and the workers' signs of life in one round trip; quick also when nobody answers."""
    try:
        with _client(broker_url, seconds) as client:
            found = client.zrangebyscore(_SIGNS, time.time() - SILENT_AFTER, "+inf", withscores=True)
    except (RedisError, OSError):
        return BrokerView(answers=False)
    signs = [float(score) for _, score in found]
    return BrokerView(True, len(signs), max(signs, default=None))


def _client(broker_url: str, seconds: float) -> Redis:
    return Redis.from_url(
        redis_url(broker_url), socket_timeout=seconds, socket_connect_timeout=seconds, retry=no_retry()
    )

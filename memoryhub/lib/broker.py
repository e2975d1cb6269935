"""The broker seen as a plain Redis-protocol server: how its URL is spelled, and whether it answers."""

from __future__ import annotations

from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

SOCKET_SECONDS = 0.05


def redis_url(broker_url: str) -> str:
    """Celery's broker URL as redis-py spells it: only the Unix socket form differs."""
    if not broker_url.startswith("redis+socket://"):
        return broker_url
    path, _, query = broker_url.removeprefix("redis+socket://").partition("?")
    return f"unix://{path}?{query.replace('virtual_host=', 'db=')}" if query else f"unix://{path}"


def no_retry() -> Retry:
    """One attempt: whoever asks has something better to do than wait for a broker that is away."""
    return Retry(NoBackoff(), 0)


def answers(broker_url: str, seconds: float = 1.0) -> bool:
    """Whether the broker answers a ping within ``seconds``."""
    client = Redis.from_url(
        redis_url(broker_url), socket_timeout=seconds, socket_connect_timeout=seconds, retry=no_retry()
    )
    try:
        return bool(client.ping())
    except RedisError:
        return False
    finally:
        client.close()

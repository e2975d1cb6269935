"""Where the servers are: those somebody named, else those of the data folder. Known before they run."""

from __future__ import annotations

from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from memoryhub.env import Environment, EnvironmentInvalid
from memoryhub.lib.connections import check_if_it_speaks
from memoryhub.local.datadir import locate

#: How many nearest vectors a search looks at; pgvector's index looks at so many at once.
NEAREST_LOOKED_AT = 200
_NAMES = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}


def database_url(env: Environment) -> str:
    """DATABASE_URL, or where the embedded PostgreSQL listens."""
    return env.database_url or locate(env.data).database_url


def broker_url(env: Environment) -> str:
    """BROKER_URL, or where the embedded Valkey listens."""
    return env.broker_url or locate(env.data).broker_url


def database_options(env: Environment) -> dict[str, Any]:
    """Django's settings for the one database. Raises EnvironmentInvalid when DATABASE_URL is no PostgreSQL address.

    Only the web has a pool: a worker forks, and a fork must not share connections. Of a server's usual 100 the hub
    takes at most web workers × web threads (8 as it ships), two for each job process (2) and one for each command.
    """
    url = database_url(env)
    if not url.startswith(("postgres://", "postgresql://")):
        raise EnvironmentInvalid("DATABASE_URL must look like postgresql://user:password@host:5432/name.")
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        raise EnvironmentInvalid("DATABASE_URL must look like postgresql://user:password@host:5432/name.") from None
    options: dict[str, Any] = {key: value for key, value in parts.items() if key not in _NAMES}
    options.setdefault("connect_timeout", 3)
    options.setdefault("application_name", f"memoryhub {env.process}")
    # Said once per connection: as a statement of its own it would cost every search three round trips.
    # A filtered search goes on along the index until enough pass, or until it has looked at 20,000 vectors.
    said = f"-c hnsw.ef_search={NEAREST_LOOKED_AT} -c hnsw.iterative_scan=relaxed_order"
    options["options"] = f"{options.get('options', '')} {said}".strip()
    # Statements read in binary are planned once per connection; a pooler between hub and server could not keep that.
    options["prepare_threshold"] = 2 if env.database_url is None else None
    pooled = env.process == "web"
    if pooled:
        limits = {"min_size": 1, "max_size": env.web_threads, "timeout": 3, "max_idle": 300}
        options["pool"] = {**limits, "check": check_if_it_speaks}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **{name: str(parts.get(key) or "") for key, name in _NAMES.items()},
        "OPTIONS": options,
        "CONN_MAX_AGE": 0 if pooled else 60,
        "CONN_HEALTH_CHECKS": True,
    }

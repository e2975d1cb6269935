"""What ``doctor`` looks at: one finding per part, and for each that is wrong what to do about it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from banks.access import system_access
from banks.access.keyring import VaultShredded
from banks.models import Vault
from banks.services.keyring import verify_keys
from memories.models import Memory
from memories.rules.vocabulary import IndexState
from memories.services.probing import find_gaps
from memoryhub.env import environment, secrets
from memoryhub.lib import broker
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import gate
from memoryhub.lib.workers import answering_workers
from memoryhub.providers.registry import get_embedder

if TYPE_CHECKING:
    from collections.abc import Callable

OLDEST_POSTGRES, OLDEST_VECTOR = 15, (0, 8)
UP = "start the hub with `manage.py up`"


@dataclass(frozen=True)
class Finding:
    """One part, whether it is well, what was seen, and what to do when it is not."""

    part: str
    ok: bool
    seen: str
    advice: str = ""


def check_up() -> list[Finding]:
    """Every part in the order they depend on each other; a part that fails never hides the next."""
    return [_looked_at(part, look) for part, look in CHECKS.items()]


def _looked_at(part: str, look: Callable[[], Finding]) -> Finding:
    try:
        finding = look()
        return replace(finding, advice="") if finding.ok else finding
    except HubError as error:
        return Finding(part, False, error.message, "set it right and run doctor again")
    except DatabaseError as error:
        return Finding(
            part, False, f"the database refused ({type(error).__name__})", f"look at database first, or {UP}"
        )


def _database() -> Finding:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        version = str(cursor.fetchone()[0]).split(" ")[0]
    major = int(version.split(".")[0])
    return Finding(
        "database",
        major >= OLDEST_POSTGRES,
        f"PostgreSQL {version}",
        f"MemoryHub needs PostgreSQL {OLDEST_POSTGRES} or newer: upgrade the server DATABASE_URL names",
    )


def _extension() -> Finding:
    with connection.cursor() as cursor:
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        row = cursor.fetchone()
    if row is None:
        return Finding("extension", False, "pgvector is not there", "as a superuser: CREATE EXTENSION vector")
    version = tuple(int(number) for number in str(row[0]).split(".")[:2])
    return Finding(
        "extension", version >= OLDEST_VECTOR, f"pgvector {row[0]}", "install 0.8, then ALTER EXTENSION vector UPDATE"
    )


def _migrations() -> Finding:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    seen = f"{len(waiting)} waiting" if waiting else "all applied"
    return Finding("migrations", not waiting, seen, "run `manage.py migrate` (`manage.py up` does it too)")


def _index() -> Finding:
    failed = Memory.objects.filter(index_state=IndexState.FAILED).count()
    pending = Memory.objects.filter(index_state=IndexState.PENDING).count()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid")
        broken = cursor.fetchone()[0]
    seen = (
        f"{failed} memories failed, {pending} wait, {broken} broken indexes"
        if failed or pending or broken
        else "complete"
    )
    advice = "retry the dead jobs under Jobs; for a broken index: REINDEX INDEX CONCURRENTLY"
    return Finding("index", not failed and not broken, seen, advice)


def _gaps() -> Finding:
    """What should be in the index and is not, over all vaults (CON-06)."""
    words = vectors = chunks = 0
    for vault_id in Vault.objects.values_list("pk", flat=True):
        with gate.session(), suppress(VaultShredded):
            found = find_gaps(system_access(vault_id, "doctor"))
            words, vectors, chunks = words + found.words, vectors + found.vectors, chunks + found.chunks
    seen = f"{words} memories lack words, {vectors} lack vectors, {chunks} chunks do not add up"
    well = not (words or vectors or chunks)
    return Finding("gaps", well, "none" if well else seen, "run `manage.py reindex`")


def _broker() -> Finding:
    ok = broker.answers(settings.CELERY_BROKER_URL)
    return Finding(
        "broker", ok, "answers" if ok else "does not answer", f"{UP}, or correct BROKER_URL; writes go on meanwhile"
    )


def _worker() -> Finding:
    names = answering_workers()
    seen = f"{len(names)} answer" if names else "none answers"
    return Finding("worker", bool(names), seen, f"{UP} (without --no-worker); jobs wait meanwhile")


def _embedder() -> Finding:
    embedder = get_embedder()
    if embedder is None:
        return Finding("embedder", True, "switched off: keyword search only")
    vectors = embedder.embed(["a cup of tea"])
    return Finding("embedder", True, f"{embedder.name} {embedder.model}, {vectors.shape[1]} dimensions")


def _keys() -> Finding:
    found = secrets()
    verify_keys()
    return Finding("keys", True, f"{len(found.keys)} known, {found.active} seals new data")


def _storage() -> Finding:
    env = environment()
    return Finding(
        "data", True, str(env.data) if env.database_url is None else f"{env.data} and the database of DATABASE_URL"
    )


CHECKS: dict[str, Callable[[], Finding]] = {
    "data": _storage,
    "database": _database,
    "extension": _extension,
    "migrations": _migrations,
    "keys": _keys,
    "index": _index,
    "gaps": _gaps,
    "broker": _broker,
    "worker": _worker,
    "embedder": _embedder,
}

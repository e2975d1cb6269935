"""A large vault's own HNSW index: built beside the running search, never one for all vaults, never for a small one."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from memories.models import Embedding, VaultSpace
from memoryhub.lib.errors import Conflict

#: Up to so many vectors an exact scan is fast enough, and no index is worth its upkeep.
GRAPH_FROM = 20_000
#: So many vectors may wait beside the index before they are put into it.
TAIL_MAX = 4_096
BATCH = 500

#: What a vector takes beside its halves while the index is built, with room to spare.
_NODE_BYTES = 1_400
# No more than the server allows, and no more than is needed: a parallel build takes all it may at once.
_ENOUGH_MEMORY = """
    SELECT set_config('maintenance_work_mem', least(greatest(%s, pg_size_bytes('64MB')),
        pg_size_bytes(current_setting('maintenance_work_mem')))::bigint / 1024 || 'kB', false)
"""


class GraphsBusy(Conflict):
    """A vector index is built or dropped at this moment, for this vault or another one; the rest waits for its end."""

    code = "graphs_busy"


def needs_graph(place: VaultSpace) -> bool:
    """Whether the vault has outgrown exact scans in this space."""
    return not place.has_graph and count_vectors(place, GRAPH_FROM + 1) > GRAPH_FROM


def count_vectors(place: VaultSpace, enough: int | None = None, *, only_tail: bool = False) -> int:
    """How many vectors there are, counted up to ``enough``."""
    rows = Embedding.objects.filter(vault_id=place.vault_id, space_id=place.space_id)
    return (rows.filter(in_tail=True) if only_tail else rows)[:enough].count()


def build_graph(place: VaultSpace) -> None:
    """Build the index without blocking writes, then let searches use it. Outside any transaction, repeatable.

    The server does not notice that a worker was killed, and goes on: what it finished is used as it is, what was broken
    off is built anew. Raises GraphsBusy as long as it, or somebody else, is at it.
    """
    _have_the_table()
    if not _is_whole(place):
        _build(place)
    VaultSpace.objects.filter(pk=place.pk).update(has_graph=True)


def _build(place: VaultSpace) -> None:
    name = _name(place.pk)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        cursor.execute(
            "UPDATE memories_embedding SET in_tail = false WHERE vault_id = %s AND space_id = %s AND in_tail",
            [place.vault_id, place.space_id],
        )
        dimensions = int(place.space.dimensions)
        cursor.execute(_ENOUGH_MEMORY, [count_vectors(place) * (_NODE_BYTES + 2 * dimensions)])
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON memories_embedding"
            f" USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)"
            " WHERE vault_id = %s AND space_id = %s AND NOT in_tail",
            [place.vault_id, place.space_id],
        )
        cursor.execute("RESET maintenance_work_mem")


def drop_graph(place: VaultSpace) -> None:
    """Take the index away once nobody searches by it. Outside any transaction, repeatable. Raises GraphsBusy."""
    _have_the_table()
    VaultSpace.objects.filter(pk=place.pk).update(has_graph=False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_indexes WHERE indexname = %s", [_name(place.pk)])
        if cursor.fetchone() is not None:
            cursor.execute(f"DROP INDEX CONCURRENTLY {_name(place.pk)}")


def drain_tail(place: VaultSpace) -> int:
    """Put the next batch of waiting vectors into the index; how many. One short statement, one commit."""
    waiting = Embedding.objects.filter(vault_id=place.vault_id, space_id=place.space_id, in_tail=True)
    ids = list(waiting.order_by("pk").values_list("pk", flat=True)[:BATCH])
    # Asked once more of each: one that another worker has moved meanwhile would get a second place in the index.
    return Embedding.objects.filter(pk__in=ids, in_tail=True).update(in_tail=False)


# Two who build or drop on one table at once wait for each other, and the server breaks off the one that came first,
# however much it has done. Those who wait for the lock count; the server's own vacuum does not, it makes way.
_OTHERS = """
    SELECT EXISTS (
        SELECT FROM pg_locks AS held JOIN pg_stat_activity AS who ON who.pid = held.pid
        WHERE held.relation = 'memories_embedding'::regclass AND held.mode = 'ShareUpdateExclusiveLock'
          AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND who.usename = session_user AND who.pid <> pg_backend_pid()
    )
"""


def _have_the_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS)
        ((is_busy,),) = cursor.fetchall()
    if is_busy:
        raise GraphsBusy


def _is_whole(place: VaultSpace) -> bool:
    """Whether the index is there and complete; a build that was broken off leaves an invalid one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid"
            " WHERE c.relname = %s AND pg_table_is_visible(c.oid)",
            [_name(place.pk)],
        )
        return bool(cursor.fetchall() == [(True,)])


def _name(place_id: UUID) -> str:
    return f"graph_{place_id.hex}"

"""A large vault's own HNSW index: built beside the running search, never one for all vaults, never for a small one."""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from memories.models import Embedding, VaultSpace

#: Up to so many vectors an exact scan is fast enough, and no index is worth its upkeep.
GRAPH_FROM = 20_000
#: So many vectors may wait beside the index before they are put into it.
TAIL_MAX = 4_096
BATCH = 500


def needs_graph(place: VaultSpace) -> bool:
    """Whether the vault has outgrown exact scans in this space."""
    return not place.has_graph and count_vectors(place, GRAPH_FROM + 1) > GRAPH_FROM


def count_vectors(place: VaultSpace, enough: int, *, only_tail: bool = False) -> int:
    """How many vectors there are, counted up to ``enough``."""
    rows = Embedding.objects.filter(vault_id=place.vault_id, space_id=place.space_id)
    return (rows.filter(in_tail=True) if only_tail else rows)[:enough].count()


def build_graph(place: VaultSpace) -> None:
    """Build the index without blocking writes, then let searches use it. Outside any transaction, repeatable."""
    name = _name(place.pk)
    with connection.cursor() as cursor:
        # A build that was killed leaves an invalid index behind.
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        cursor.execute(
            "UPDATE memories_embedding SET in_tail = false WHERE vault_id = %s AND space_id = %s AND in_tail",
            [place.vault_id, place.space_id],
        )
        dimensions = int(place.space.dimensions)
        cursor.execute(
            f"CREATE INDEX CONCURRENTLY {name} ON memories_embedding"
            f" USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)"
            " WHERE vault_id = %s AND space_id = %s AND NOT in_tail",
            [place.vault_id, place.space_id],
        )
    VaultSpace.objects.filter(pk=place.pk).update(has_graph=True)


def drain_tail(place: VaultSpace) -> int:
    """Put the next batch of waiting vectors into the index; how many. One short statement, one commit."""
    waiting = Embedding.objects.filter(vault_id=place.vault_id, space_id=place.space_id, in_tail=True)
    ids = list(waiting.order_by("pk").values_list("pk", flat=True)[:BATCH])
    return Embedding.objects.filter(pk__in=ids).update(in_tail=False)


def _name(place_id: UUID) -> str:
    return f"graph_{place_id.hex}"

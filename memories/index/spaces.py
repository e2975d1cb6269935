"""Which embedding space a vault searches in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.db import IntegrityError, transaction

from memories.models import EmbeddingSpace, VaultSpace
from memoryhub.providers.base import Embedder
from memoryhub.providers.registry import get_embedder


@dataclass(frozen=True, slots=True)
class ActiveSpace:
    """A vault's space and the embedder that fills it."""

    space_id: UUID
    embedder: Embedder
    #: Whether the vault has an index of its own over it.
    has_graph: bool = False


@lru_cache(maxsize=4_096)
def _remembered(vault_id: UUID, config_version: int) -> VaultSpace | None:
    return _active(vault_id)


def _active(vault_id: UUID) -> VaultSpace | None:
    return VaultSpace.objects.select_related("space").filter(vault_id=vault_id, is_active=True).first()


def active_space(vault_id: UUID, config_version: int | None = None) -> ActiveSpace | None:
    """The vault's active space; None without an embedder or while the configured one has another (DEG-02, 13).

    With a ``config_version`` it may be remembered from an earlier call. A vault without any space gets the configured
    embedder's. Raises ProviderError when a remote embedder must be asked for its dimensions and does not answer.
    """
    embedder = get_embedder()
    if embedder is None:
        return None
    active = _active(vault_id) if config_version is None else _remembered(vault_id, config_version)
    if active is None:
        return ActiveSpace(_join(vault_id, _space_of(embedder)), embedder)
    space = active.space
    fits = (space.provider, space.model) == (embedder.name, embedder.model)
    return ActiveSpace(space.pk, embedder, active.has_graph) if fits else None


def _space_of(embedder: Embedder) -> UUID:
    space, _ = EmbeddingSpace.objects.get_or_create(
        provider=embedder.name, model=embedder.model, dimensions=embedder.dimensions
    )
    return UUID(str(space.pk))


def _join(vault_id: UUID, space_id: UUID) -> UUID:
    """Make the space the vault's active one; whoever comes first wins."""
    try:
        with transaction.atomic():
            VaultSpace.objects.create(vault_id=vault_id, space_id=space_id)
    except IntegrityError:
        return UUID(str(VaultSpace.objects.get(vault_id=vault_id, is_active=True).space_id))
    return space_id

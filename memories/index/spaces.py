"""Which embedding space a vault searches in, and which embedder fits it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from memories.models import EmbeddingSpace, VaultSpace
from memories.rules.datamigrations import SpaceName
from memoryhub.lib.errors import Conflict
from memoryhub.providers.base import Embedder, ProviderError, Vectors
from memoryhub.providers.registry import get_embedder, get_next_embedder, known_embedders


class SpaceMoved(Conflict):
    """The vault moved to another embedding space at this moment; nothing was written, send it again."""

    code = "space_moved"


@dataclass(frozen=True, slots=True)
class ActiveSpace:
    """A vault's space and the embedder that fills it."""

    space_id: UUID
    embedder: Embedder
    #: Whether the vault has an index of its own over it.
    has_graph: bool = False
    #: None where the embedder is asked for it with the first vector.
    dimensions: int | None = None

    def checked(self, vectors: Vectors) -> Vectors:
        """``vectors`` if they belong here. Raises ProviderError: a model may change its geometry and keep its name."""
        if self.dimensions not in {None, vectors.shape[1]}:
            raise ProviderError(
                f"The embedder gives {vectors.shape[1]} dimensions where this vault has {self.dimensions}; "
                "bring back the model it was filled with, or re-embed it under Migrations.",
                permanent=True,
            )
        return vectors


@lru_cache(maxsize=4_096)
def _remembered(vault_id: UUID, config_version: int) -> VaultSpace | None:
    return _active(vault_id)


def _active(vault_id: UUID) -> VaultSpace | None:
    return VaultSpace.objects.select_related("space").filter(vault_id=vault_id, is_active=True).first()


def active_space(vault_id: UUID, config_version: int | None = None) -> ActiveSpace | None:
    """The vault's active space; None without an embedder, and where none at hand fits it (DEG-02, 13).

    With a ``config_version`` it may be remembered from an earlier call, and somebody waits: a remote embedder is then
    not asked for anything. Without one, a vault that has no space gets the configured embedder's. Raises ProviderError
    when a remote embedder must be asked for its dimensions and does not answer.
    """
    embedder = get_embedder()
    if embedder is None:
        return None
    active = _active(vault_id) if config_version is None else _remembered(vault_id, config_version)
    if active is None:
        if config_version is not None and not embedder.knows_dimensions:
            return None
        return ActiveSpace(_join(vault_id, space_of(embedder)), embedder)
    fitting = embedder_of(space_name(active.space))
    if fitting is None:
        return None
    return ActiveSpace(active.space_id, fitting, active.has_graph, active.space.dimensions)


def name_of(embedder: Embedder) -> SpaceName:
    """The space an embedder fills, as far as is known without asking anybody."""
    return SpaceName(embedder.name, embedder.model, embedder.dimensions if embedder.knows_dimensions else None)


def space_name(space: EmbeddingSpace) -> SpaceName:
    """A space as people name it."""
    return SpaceName(space.provider, space.model, space.dimensions)


def embedder_of(name: SpaceName) -> Embedder | None:
    """The embedder that fills such a space; None when this process has none."""
    return next((one for one in known_embedders() if name_of(one).fits(name)), None)


def wanted_space(active: SpaceName | None) -> SpaceName | None:
    """Where the environment wants the vault to be and it is not; None when it is there, or nothing is configured."""
    configured = get_next_embedder() or get_embedder()
    wanted = name_of(configured) if configured is not None else None
    return None if wanted is None or (active is not None and wanted.fits(active)) else wanted


def hold_space(vault_id: UUID, active: ActiveSpace) -> None:
    """Until the transaction ends the vault goes on searching in this space. Raises SpaceMoved when it left it.

    Whoever writes vectors holds it, so that none is written into a space nobody searches any more.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM memories_vaultspace WHERE vault_id = %s AND space_id = %s AND is_active FOR SHARE",
            [vault_id, active.space_id],
        )
        if cursor.fetchone() is None:
            raise SpaceMoved


def space_of(embedder: Embedder) -> UUID:
    """The space an embedder fills, made when it is new. Raises ProviderError when it must be asked and is away."""
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

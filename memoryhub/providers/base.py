"""What an embedder is, and how one fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memoryhub.lib.errors import HubError, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

type Vectors = NDArray[np.float32]


class ProviderError(HubError):
    """The embedding service did not answer as it should; the hub goes on with keyword search."""

    code = "provider"
    kind = Kind.UNAVAILABLE

    def __init__(self, message: str | None = None, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent
        """Whether trying again is pointless until a person changes something (a key, a model name, a dimension)."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors of one space. Safe to share between threads."""

    @property
    def name(self) -> str:
        """The provider, as embedding spaces name it."""

    @property
    def model(self) -> str:
        """The model, as embedding spaces name it."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has. Raises ProviderError when that must be asked for and nobody answers."""

    @property
    def knows_dimensions(self) -> bool:
        """Whether ``dimensions`` can be had without asking anybody."""

    @property
    def local(self) -> bool:
        """Whether it runs in this process, fast enough to embed inside a write."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 of shape (len(texts), dimensions), in the order given. Raises ProviderError."""


@runtime_checkable
class Emphasising(Protocol):
    """An embedder whose vectors are sums over words, so that a question's rare words can be made to count more."""

    def emphasise(self, words: Sequence[str], weights: Sequence[float]) -> NDArray[np.float32]:
        """The unit vector of the words, each weighed; positive weights, at least one word."""


def unit(vectors: Vectors) -> Vectors:
    """Each row divided by its length. Raises ProviderError when a row is zero or not finite, so no cosine is NaN."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ProviderError("The embedding service returned a vector without a direction.", permanent=True)
    return (vectors / lengths).astype(np.float32, copy=False)

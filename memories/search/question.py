"""A question on its way: what was asked, and what the legs found for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from banks.access import Access
from memories.index.spaces import ActiveSpace
from memories.rules.filters import SearchQuery
from memories.search.candidates import Allowed
from memories.search.keywords import KeywordHits


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything the legs need: who asks, what, under which settings, among which rows."""

    access: Access
    query: SearchQuery
    settings: Mapping[str, Any]
    rows: Allowed
    #: As of which version of the vault's configuration; the space is the one of that version.
    version: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the semantic leg found, best first, the space it looked in and the question's vector there."""

    found: Mapping[UUID, float]
    space: ActiveSpace
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Found:
    """What each leg found; without an embedder there is no meaning."""

    terms: tuple[int, ...]
    keyword: KeywordHits
    meaning: Meaning | None

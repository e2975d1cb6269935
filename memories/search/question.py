"""A question on its way: what was asked, and what the legs found for it."""

from __future__ import annotations

import datetime as dt
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
from memories.search.trace import Trace
from memoryhub.lib.clock import now


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything the legs need: who asks, what, under which settings, among which rows."""

    access: Access
    query: SearchQuery
    settings: Mapping[str, Any]
    rows: Allowed
    #: As of which version of the vault's configuration; the space is the one of that version.
    version: int
    #: Where every stage says when it is done.
    trace: Trace

    @property
    def at(self) -> dt.datetime:
        """The moment that answers are for: what was ``yesterday``, and how old a memory is, depend on it."""
        return self.query.as_of or now()


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

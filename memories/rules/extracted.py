"""A model's answer to the extraction prompt: read tolerantly, one element at a time (EXT-10, EXT-16, EXT-18)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from memories.rules.facts import FACT_MAX, Fact
from memories.rules.limits import LABEL_MAX
from memories.rules.vocabulary import MemoryCategory, MemoryType

_KEY = re.compile(r"[^a-z0-9]+")
_WHOLE = 1


def _score(value: Any) -> Any:
    """0 to 1 becomes 1 to 5 by ``clamp(floor(5x + .5), 1, 5)`` (CON-02); 2 to 5 are taken as they are; else 3."""
    if isinstance(value, bool) or value is None:
        return 3
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 3
    if not math.isfinite(number):
        return 3
    scaled = math.floor(5 * number + 0.5) if number <= _WHOLE else math.floor(number + 0.5)
    return min(max(scaled, 1), 5)


def _text(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def _numbers(value: Any) -> Any:
    given = value if isinstance(value, list) else [value]
    return [int(one) for one in given if isinstance(one, int | str) and str(one).strip().isdecimal()]


Score = Annotated[int, BeforeValidator(_score), Field(ge=1, le=5)]


class ExtractedFact(BaseModel):
    """One element; the four fields of the contract, and what helps to judge it. Unknown fields are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    fact_text: Annotated[str, BeforeValidator(_text), Field(min_length=3, max_length=FACT_MAX)] = Field(
        validation_alias=AliasChoices("fact_text", "text", "fact", "content")
    )
    fact_key: str | None = None
    importance: Score = 3
    confidence: Score = 3
    memory_bank: str | None = Field(default=None, validation_alias=AliasChoices("memory_bank", "bank"))
    category: str | None = None
    sources: Annotated[list[int], BeforeValidator(_numbers)] = []

    def to_fact(self, read: Collection[int]) -> Fact:
        """The fact; sources that were not read are left out, and without any it is from all of them."""
        key = _KEY.sub("_", (self.fact_key or "").lower()).strip("_")[:LABEL_MAX]
        known = tuple(number for number in dict.fromkeys(self.sources) if number in read)
        is_preference = key.startswith(("preference", "favorite", "favourite"))
        return Fact(
            text=self.fact_text,
            key=key or None,
            importance=self.importance,
            confidence=self.confidence,
            bank=self.memory_bank or None,
            type=MemoryType.PREFERENCE if is_preference else MemoryType.FACT,
            category=_category(self.category),
            sources=known or tuple(sorted(read)),
        )


def _category(name: str | None) -> MemoryCategory:
    known = (name or "").strip().lower()
    return MemoryCategory(known) if known in set(MemoryCategory) else MemoryCategory.USER_PROFILE


class ExtractedFacts(BaseModel):
    """The whole answer."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    memories: list[ExtractedFact]

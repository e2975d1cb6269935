"""Facts as VoxBridge's plan writes them: floats from 0 to 1 for importance, ``memory_bank`` for the bank (CON-02)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, StrictBool

from memories.rules import limits
from memories.rules.drafts import Content, Label, MemoryChanges, MemoryDraft
from memories.rules.filters import MemoryFilter
from memoryhub.lib.strict import StrictModel


def _number(value: Any) -> Any:
    """A whole number is a share too; a text or a truth value is none."""
    return float(value) if type(value) is int and abs(value) <= 1 else value


#: 1.0, 0.8, 0.6, 0.4, 0.2 are the five steps.
Share = Annotated[float, BeforeValidator(_number), Field(ge=0, le=1, strict=True)]
_BANK: Mapping[str, str] = {"bank": "memory_bank"}


class FactDraft(StrictModel):
    """One fact to write (003, API-01)."""

    aliases: ClassVar[Mapping[str, str]] = _BANK

    fact_text: Content
    fact_key: Label | None = None
    importance: Share = 0.6
    memory_bank: Label | None = None
    user_id: Label | None = None
    agent_id: Label | None = None
    is_protected: StrictBool = False

    def draft(self) -> MemoryDraft:
        """The write it is."""
        values = self.model_dump(exclude={"fact_text", "importance", "memory_bank"})
        return MemoryDraft.parse(
            {**values, "content": self.fact_text, "importance": step_of(self.importance), "bank": self.memory_bank}
        )


class FactChanges(StrictModel):
    """What of a fact changes; what is left out stays (API-03)."""

    aliases: ClassVar[Mapping[str, str]] = _BANK

    fact_text: Content = Field(default="", validate_default=False)
    fact_key: Label | None = None
    importance: Share = 0.6
    memory_bank: Label = Field(default="", validate_default=False)
    is_protected: StrictBool = False

    def changes(self) -> MemoryChanges:
        """The change it is."""
        names = {"fact_text": "content", "memory_bank": "bank"}
        given = {names.get(name, name): getattr(self, name) for name in self.model_fields_set}
        if "importance" in given:
            given["importance"] = step_of(self.importance)
        return MemoryChanges.parse(given)


class FactFilter(StrictModel):
    """Which facts are listed (API-02)."""

    aliases: ClassVar[Mapping[str, str]] = {"memory_bank": "bank", "memoryBank": "bank"}

    bank: Label | None = None
    user_id: Label | None = None
    agent_id: Label | None = None
    fact_key: Label | None = None
    limit: Annotated[int, Field(ge=1, le=limits.PAGE_MAX)] = limits.PAGE_MAX

    def filters(self) -> MemoryFilter:
        """The filter of the list it is."""
        return MemoryFilter.parse({name: value for name, value in self.model_dump(exclude={"limit"}).items() if value})


def step_of(share: float) -> int:
    """0.0–1.0 → 1–5 (CON-02)."""
    return min(max(math.floor(5 * share + 0.5), 1), 5)


def share_of(step: int) -> float:
    """1–5 → 0.2–1.0."""
    return step / 5

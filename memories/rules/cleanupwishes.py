"""What callers may ask of a clean-up, strictly checked before anything is looked up."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.cleanup import SEED_RULES, CleanupRule
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel

Rules = Annotated[list[CleanupRule], Field(min_length=1, max_length=len(CleanupRule))]
CHOSEN_MAX = 500


class CleanupWish(StrictModel):
    """Which rules to try: the seed's four by default. ``query`` adds what matches it, in the language of lists."""

    model_config = shown({"rules": ["exact_duplicate", "superseded"]})

    rules: Rules | None = None
    query: Annotated[str, Field(min_length=1, max_length=limits.QUERY_MAX, pattern=r"\S")] | None = None

    @model_validator(mode="after")
    def _query_and_rule(self) -> CleanupWish:
        if self.rules is not None and CleanupRule.QUERY in self.rules and self.query is None:
            raise PydanticCustomError("query_needed", "the rule query needs a `query`")
        return self

    @property
    def wanted(self) -> tuple[CleanupRule, ...]:
        """The rules to use, each once, in their own order; a query alone uses no other rule."""
        named = set(SEED_RULES if self.rules is None and self.query is None else self.rules or ())
        return tuple(rule for rule in CleanupRule if rule in named | ({CleanupRule.QUERY} if self.query else set()))


class PlanChoice(StrictModel):
    """What to do with some candidates: tick, untick, never name again, or keep another one of its cluster.

    They are named by their memories, or by the ``reason`` that names them; with neither, all are meant.
    """

    model_config = shown({"memory_ids": ["01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b17"], "ticked": False})

    memory_ids: Annotated[list[UUID], Field(min_length=1, max_length=CHOSEN_MAX)] | None = None
    reason: CleanupRule | None = None
    ticked: StrictBool | None = None
    never_again: StrictBool | None = None
    keeper: UUID | None = None

    @model_validator(mode="after")
    def _says_something(self) -> PlanChoice:
        if self.ticked is None and self.never_again is None and self.keeper is None:
            raise PydanticCustomError("nothing_chosen", "needs `ticked`, `never_again` or `keeper`")
        if self.keeper is not None and (self.memory_ids or self.reason or self.never_again is not None):
            raise PydanticCustomError("keeper_alone", "`keeper` is about its own cluster and stands alone")
        if self.never_again and self.memory_ids is None and self.reason is None:
            raise PydanticCustomError("memory_ids_needed", "`never_again` needs `memory_ids` or a `reason`")
        return self

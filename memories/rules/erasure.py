"""What goes with an erased memory, and what closes up behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from memories.rules.drafts import Label
from memories.rules.vocabulary import ErasureKind
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel

#: Actions on many memories whose reason is about all of them. A reason for any other action may quote one of the
#: memories it was given for, and does not outlive the first of them.
REASONED_AS_A_WHOLE = frozenset({"prune_memories", "reject_drafts", "cleanup_memories", "enforce_retention"})


def heir(gone: Mapping[UUID, UUID | None], successor: UUID | None) -> UUID | None:
    """What stands at the end of the erased ones beginning with ``successor``; None when the chain's head went too.

    ``gone`` is each erased memory with its own successor: a chain whose middle is erased closes up (SUP-07).
    """
    while successor is not None and successor in gone:
        successor = gone[successor]
    return successor


class ErasureDraft(StrictModel):
    """Whose things to erase: exactly one of the three. A dry run, which is the default, only counts them."""

    model_config = shown({"user_id": "alice", "dry_run": False, "expected_count": 37})

    user_id: Label | None = None
    agent_id: Label | None = None
    session_id: Label | None = None
    dry_run: StrictBool = True
    expected_count: Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)] | None = None

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if sum(name is not None for name in (self.user_id, self.agent_id, self.session_id)) != 1:
            raise PydanticCustomError("one_subject", "give exactly one of user_id, agent_id and session_id")
        if not self.dry_run and self.expected_count is None:
            raise PydanticCustomError("expected_count", "erasing needs expected_count, the count of a dry run")
        return self

    @property
    def subject(self) -> tuple[ErasureKind, str]:
        """Kind and name."""
        if self.user_id is not None:
            return ErasureKind.USER, self.user_id
        if self.agent_id is not None:
            return ErasureKind.AGENT, self.agent_id
        return ErasureKind.SESSION, str(self.session_id)

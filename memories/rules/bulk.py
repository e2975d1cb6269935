"""One change of many memories: what a caller may ask for, and what becomes of each memory (ux §2.2, DESIGN §8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.drafts import Label, Reason, Score, Tag
from memories.rules.filters import MemoryFilter
from memories.rules.status import may_move
from memories.rules.vocabulary import MemoryCategory, Status
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel

#: So many memories are changed at once and in one transaction; more are work for a job.
AT_ONCE = 500
EXCLUDED_MAX = 1_000


class BulkAction(StrEnum):
    """What can be done to many memories at once."""

    ARCHIVE = "archive"
    RESTORE = "restore"
    ACCEPT = "accept"
    DISCARD = "discard"
    MOVE_BANK = "move_bank"
    ADD_TAGS = "add_tags"
    REMOVE_TAGS = "remove_tags"
    SET_IMPORTANCE = "set_importance"
    SET_CATEGORY = "set_category"
    PROTECT = "protect"
    UNPROTECT = "unprotect"

    @property
    def verb(self) -> str:
        """Its name in audit, revisions and changesets."""
        return f"bulk_{self.value}"


#: The parameter an action cannot do without. A category may be null: it is taken away.
NEEDED: Mapping[BulkAction, str] = {
    BulkAction.MOVE_BANK: "bank",
    BulkAction.ADD_TAGS: "tags",
    BulkAction.REMOVE_TAGS: "tags",
    BulkAction.SET_IMPORTANCE: "importance",
    BulkAction.SET_CATEGORY: "category",
}
#: Taking these back moves a status, which only a reviewer may.
REVIEWS = frozenset({BulkAction.ACCEPT.verb, BulkAction.DISCARD.verb})


class BulkChange(StrictModel):
    """Which memories and what to do: ``ids``, or all that match ``query`` but ``exclude_ids``.

    ``expected_count`` is how many the caller has seen; a query needs it, and any other number refuses the change.
    """

    model_config = shown(
        {
            "action": "add_tags",
            "query": {"bank": ["Work"], "tag": ["sprint-41"]},
            "expected_count": 120,
            "tags": ["archive-soon"],
            "reason": "The sprint is over.",
        }
    )

    aliases: ClassVar[Mapping[str, str]] = {"filter": "query"}

    action: BulkAction
    ids: Annotated[list[UUID], Field(min_length=1, max_length=AT_ONCE)] | None = None
    query: MemoryFilter | None = None
    exclude_ids: Annotated[list[UUID], Field(max_length=EXCLUDED_MAX)] = []
    expected_count: Annotated[int, Field(ge=0, strict=True)] | None = Field(default=None, validate_default=True)
    bank: Label | None = None
    tags: Annotated[list[Tag], Field(min_length=1, max_length=limits.TAGS_MAX)] | None = None
    importance: Score | None = None
    category: MemoryCategory | None = None
    reason: Reason = ""

    @field_validator("expected_count")
    @classmethod
    def _was_seen(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is None and info.data.get("query") is not None:
            raise PydanticCustomError("expected_count", "with a query, expected_count must say how many were seen")
        return value

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if (self.ids is None) == (self.query is None):
            raise PydanticCustomError("one_selection", "needs either ids or a query, and not both")
        needed = NEEDED.get(self.action)
        if needed and (needed not in self.model_fields_set or (getattr(self, needed) is None and needed != "category")):
            said = {"action": self.action.value, "name": needed}
            raise PydanticCustomError("missing_parameter", "{action} needs {name}", said)
        return self


class Skip(StrEnum):
    """Why a memory stays as it is although it was chosen; the codes a single change would answer with."""

    PROTECTED = "protected"
    SUPERSEDED = "superseded"
    STATUS_MOVE = "status_move"
    REPLACES_ANOTHER = "replaces_another"
    TOO_MANY_TAGS = "too_many_tags"
    DUPLICATE_CONTENT = "duplicate_content"


@dataclass(frozen=True, slots=True)
class Subject:
    """What the decision looks at in one memory; ``has_promises``: it is a draft written to replace another memory."""

    status: Status
    tags: Sequence[str] = ()
    archived: bool = False
    superseded: bool = False
    protected: bool = False
    has_promises: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """An action with its parameter, looked up: ``value`` is a bank's id, tags, a score or a category."""

    action: BulkAction
    value: Any = None


def change_of(subject: Subject, given: Given) -> Mapping[str, Any] | Skip:
    """Field → new value (``archived`` as a truth); fields may keep what they have. Or why the memory is left alone.

    What is protected is neither archived nor discarded in passing, a replaced memory does not come back beside its
    successor, and a draft that replaces another is accepted by itself, where that is seen.
    """
    match given.action:
        case BulkAction.ARCHIVE:
            return Skip.PROTECTED if subject.protected and not subject.archived else {"archived": True}
        case BulkAction.RESTORE:
            return Skip.SUPERSEDED if subject.superseded else {"archived": False}
        case BulkAction.ACCEPT | BulkAction.DISCARD:
            return _reviewed(subject, Status.ACCEPTED if given.action == BulkAction.ACCEPT else Status.DISCARD)
        case BulkAction.ADD_TAGS:
            tags = list(dict.fromkeys([*subject.tags, *given.value]))
            return Skip.TOO_MANY_TAGS if len(tags) > limits.TAGS_MAX else {"tags": tags}
        case BulkAction.REMOVE_TAGS:
            return {"tags": [tag for tag in subject.tags if tag not in set(given.value)]}
        case BulkAction.PROTECT | BulkAction.UNPROTECT:
            return {"is_protected": given.action == BulkAction.PROTECT}
        case BulkAction.MOVE_BANK:
            return {"bank_id": given.value}
        case BulkAction.SET_IMPORTANCE:
            return {"importance": given.value}
        case BulkAction.SET_CATEGORY:
            return {"category": given.value}


def _reviewed(subject: Subject, status: Status) -> Mapping[str, Any] | Skip:
    if subject.status == status:
        return {}
    if not may_move(subject.status, status):
        return Skip.STATUS_MOVE
    if status == Status.DISCARD and subject.protected:
        return Skip.PROTECTED
    return Skip.REPLACES_ANOTHER if status == Status.ACCEPTED and subject.has_promises else {"status": status.value}

"""What a caller may send of a conversation: one turn, or many in order (EXT-22, EXT-23, STM-03)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.drafts import Label, Moment, Namespace
from memories.rules.tokens import estimate_tokens
from memories.rules.vocabulary import Role, WindowScope
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel

#: What chat APIs call the roles.
OTHER_ROLES = {"user": Role.HUMAN, "assistant": Role.AI}


def _role(value: Any) -> Any:
    return OTHER_ROLES.get(value, value) if isinstance(value, str) else value


class ToolCall(StrictModel):
    """One tool an ai message asks for."""

    id: Label
    name: Label
    arguments: dict[str, Any] | str = {}


class MessageDraft(StrictModel):
    """One turn. ``id`` is the caller's own, by which a repeated message is recognised."""

    aliases: ClassVar[dict[str, str]] = {"external_id": "id"}

    role: Annotated[Role, BeforeValidator(_role)]
    content: Annotated[str, Field(max_length=limits.CONTENT_MAX, strict=True)] = ""
    id: Label | None = None
    tool_calls: Annotated[list[ToolCall], Field(max_length=limits.TOOL_CALLS_MAX)] = []
    tool_call_id: Label | None = None
    tool_name: Label | None = None
    is_error: StrictBool = False
    created_at: Moment | None = None

    @model_validator(mode="after")
    def _fits_its_role(self) -> Self:
        if self.tool_calls and self.role is not Role.AI:
            raise PydanticCustomError("tool_calls", "only an ai message calls tools")
        if (self.tool_call_id is None) == (self.role is Role.TOOL):
            raise PydanticCustomError("tool_call_id", "a tool message, and only that, names its call in tool_call_id")
        if not (self.content.strip() or self.tool_calls or self.role is Role.TOOL):
            raise PydanticCustomError("empty_message", "a message says something in content, or calls tools")
        return self

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The tool calls as they are stored."""
        return [call.model_dump() for call in self.tool_calls]

    @property
    def tokens(self) -> int:
        """An estimate of what a model counts for it, calls included."""
        said = "".join(f"{call.name}{call.arguments}" for call in self.tool_calls)
        return estimate_tokens(self.content + said)


class ConversationPart(StrictModel):
    """Turns in order, and whose conversation it is; one turn may be sent with its fields in the place of ``messages``.

    Labels are set once, by whoever names them first.
    """

    model_config = shown(
        {"user_id": "anna", "messages": [{"id": "m1", "role": "human", "content": "I live in Bergen."}]}
    )

    messages: Annotated[list[MessageDraft], Field(min_length=1, max_length=limits.MESSAGES_MAX)]
    user_id: Label | None = None
    agent_id: Label | None = None
    task_id: Label | None = None
    namespace: Namespace | None = None

    @model_validator(mode="before")
    @classmethod
    def _folded(cls, body: Any) -> Any:
        """One message with the labels beside its fields stands for a list of one."""
        if not isinstance(body, dict) or "messages" in body or "role" not in body:
            return body
        labels = {name: body[name] for name in body if cls.canonical(str(name)) in cls.model_fields}
        return {**labels, "messages": [{name: body[name] for name in body if name not in labels}]}


class WindowQuery(StrictModel):
    """Which turns to read back; what is left out comes from the settings; ``max_tokens`` has no default."""

    max_rounds: Annotated[int, Field(ge=1, le=1_000)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    limit: Annotated[int, Field(ge=1, le=limits.WINDOW_MESSAGES_MAX)] | None = None
    scope: WindowScope | None = None

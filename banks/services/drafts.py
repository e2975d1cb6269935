"""What a caller may send to create or change banks, agents and keys, validated once for every door."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool
from pydantic_core import PydanticCustomError

from banks.access import KeyScope
from memoryhub.lib.moments import Moment
from memoryhub.lib.openapi.shapes import changes_shown, shown
from memoryhub.lib.strict import StrictModel, refuse_nothing

_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Controls, formats, spaces, and marks with nothing to stand on.
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me"})
#: Letters and signs that are drawn as nothing: Hangul fillers and the empty Braille pattern.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def _trimmed(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def _readable(value: str) -> str:
    """What a person can see and read in one order. Raises on a name that is invisible or turns others around."""
    if _TURNING.search(value):
        raise PydanticCustomError("bidi_control", "contains characters that change the direction of text; remove them")
    if all(unicodedata.category(character) in _UNSEEN or character in _BLANK for character in value):
        raise PydanticCustomError("invisible", "has no character that can be seen")
    return value


BankName = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=50, strict=True)]
NewBankName = Annotated[BankName, AfterValidator(_readable)]
Name = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=100, strict=True)]
Description = Annotated[str, BeforeValidator(_trimmed), Field(max_length=500, strict=True)]
TrustCeiling = Literal["untrusted", "inferred", "stated", "verified"]


class BankDraft(StrictModel):
    """A bank to create."""

    model_config = shown({"name": "Garage", "description": "Tools and what they are for."})

    name: NewBankName
    description: Description = ""


class BankChanges(StrictModel):
    """Changes to a bank; what is left out stays."""

    model_config = changes_shown({"description": "Tools, and what they are for."})

    name: NewBankName | None = None
    description: Description | None = None
    is_hidden: StrictBool | None = None
    is_default: StrictBool | None = None


class AgentDraft(StrictModel):
    """An agent to create; banks by name, slug or id."""

    model_config = shown(
        {
            "name": "Scribe",
            "description": "Writes down what was decided.",
            "default_bank": "Work",
            "preferred_banks": ["Work"],
        }
    )

    aliases: ClassVar[Mapping[str, str]] = {"isolated": "is_isolated"}

    name: Name
    description: Description = ""
    default_bank: BankName | None = None
    preferred_banks: Annotated[list[BankName], Field(max_length=100)] = []
    is_isolated: StrictBool = False
    trust_ceiling: TrustCeiling = "verified"


class AgentChanges(StrictModel):
    """Changes to an agent; what is left out stays."""

    model_config = changes_shown({"default_bank": "Personal", "trust_ceiling": "stated"})

    aliases: ClassVar[Mapping[str, str]] = {"isolated": "is_isolated"}

    name: Name | None = None
    description: Description | None = None
    default_bank: BankName | None = None
    preferred_banks: Annotated[list[BankName], Field(max_length=100)] | None = None
    is_isolated: StrictBool | None = None
    trust_ceiling: TrustCeiling | None = None


class KeyDraft(StrictModel):
    """A key to issue; no ``banks`` means every bank. ``agent`` by name or id."""

    model_config = shown(
        {
            "name": "scribe",
            "scopes": ["memories:read", "memories:write"],
            "banks": ["Work"],
            "agent": "Scribe",
            "expires_at": "2027-11-21T00:00:00Z",
        }
    )

    name: Name
    scopes: Annotated[list[KeyScope], Field(min_length=1, max_length=len(KeyScope))]
    banks: Annotated[list[BankName], BeforeValidator(refuse_nothing), Field(min_length=1, max_length=100)] | None = None
    agent: Name | UUID | None = None
    expires_at: Moment | None = None

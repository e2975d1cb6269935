"""What may be asked of daily notes, core documents and dreams; bodies and queries of their routes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field

from memories.rules.drafts import Label, Namespace
from memories.rules.limits import DREAM_LOOKBACK_BY_HAND, DREAM_LOOKBACK_MAX, PAGE_MAX
from memoryhub.lib.moments import Day
from memoryhub.lib.openapi.shapes import shown
from memoryhub.lib.strict import StrictModel


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


In = Annotated[Namespace, BeforeValidator(_listed)]
Page = Annotated[int, Field(ge=1, le=PAGE_MAX)]
Version = Annotated[int, Field(ge=0, le=2**31 - 1)]


class DreamRequest(StrictModel):
    """A dream by hand: of which namespace, and how many days back it reads."""

    model_config = shown({"namespace": ["default"], "lookback_days": 3})

    namespace: Namespace = ["default"]
    lookback_days: Annotated[int, Field(ge=1, le=DREAM_LOOKBACK_MAX, strict=True)] = DREAM_LOOKBACK_BY_HAND


class RestoreRequest(StrictModel):
    """Which namespace's document goes back."""

    model_config = shown({"namespace": ["default"]})

    namespace: Namespace = ["default"]


class TextFormat(StrEnum):
    """In which form a text is answered: with its parts as JSON, or as Markdown to be read."""

    JSON = "json"
    MARKDOWN = "md"


class NoteQuery(StrictModel):
    """Which namespace, and in which form: JSON or Markdown."""

    namespace: In = ["default"]
    format: TextFormat = TextFormat.JSON


class DaysQuery(StrictModel):
    """A page of days."""

    namespace: In = ["default"]
    before: Day | None = None
    limit: Page = 31


class VersionsQuery(StrictModel):
    """A page of versions."""

    namespace: In = ["default"]
    before: Version | None = None
    limit: Page = 50


class DiffQuery(StrictModel):
    """What a version is compared with; without: the one before it."""

    namespace: In = ["default"]
    against: Version | None = None


class DreamsQuery(StrictModel):
    """A page of dreams, older than the one named."""

    namespace: In = ["default"]
    before: Label | None = None
    limit: Page = 50

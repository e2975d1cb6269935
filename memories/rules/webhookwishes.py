"""What may be said about an endpoint."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from memories.rules.limits import LABEL_MAX
from memories.rules.webhooks import URL_MAX, fault_of
from memoryhub.lib.openapi.shapes import changes_shown, shown
from memoryhub.lib.strict import StrictModel, refuse_nothing


def _checked(url: str) -> str:
    if fault := fault_of(url):
        raise PydanticCustomError("unusable_url", "{fault}", {"fault": fault})
    return url


Url = Annotated[str, Field(min_length=1, max_length=URL_MAX, strict=True), AfterValidator(_checked)]
Name = Annotated[str, Field(min_length=1, max_length=100, strict=True)]
Types = Annotated[
    list[Annotated[str, Field(max_length=40, strict=True)]],
    BeforeValidator(refuse_nothing),
    Field(min_length=1, max_length=40),
]
BankName = Annotated[str, Field(min_length=1, max_length=LABEL_MAX, strict=True)]
Banks = Annotated[list[BankName], BeforeValidator(refuse_nothing), Field(min_length=1, max_length=50)]


class WebhookDraft(StrictModel):
    """A new endpoint. Without ``types`` it hears all the maker may; ``banks`` narrows what is heard of memories."""

    model_config = shown({"url": "https://example.org/hook", "name": "Notes", "types": ["memory.*"], "banks": ["Work"]})

    url: Url
    name: Name | None = None
    types: Types | None = None
    banks: Banks | None = None
    #: The address is a private one, and meant to be.
    private: Annotated[bool, Field(strict=True)] = False


class WebhookChanges(StrictModel):
    """Changes to an endpoint; what is not named stays."""

    model_config = changes_shown({"types": ["memory.added", "job.*"], "active": True})

    url: Url | None = None
    name: Name | None = None
    types: Types | None = None
    banks: Banks | None = None
    private: Annotated[bool, Field(strict=True)] = False
    active: Annotated[bool, Field(strict=True)] | None = None

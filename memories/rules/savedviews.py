"""What a saved view of the list may be (ux §2.2)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from memoryhub.lib.strict import StrictModel

#: So many views of one person, and so many characters of an address.
VIEWS_MAX = 50
ADDRESS_MAX = 12_000
NAME_MAX = 80


def _trimmed(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


class ViewDraft(StrictModel):
    """A name and the address of a list, for oneself or for everybody in the vault."""

    name: Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=NAME_MAX)]
    address: Annotated[str, Field(max_length=ADDRESS_MAX)] = ""
    is_shared: bool = False
    is_pinned: bool = False

"""Doors that speak another program's language: closed until the vault opens them."""

from __future__ import annotations

from collections.abc import Sequence

from banks.access import Access
from memories.models.effective import effective_settings
from memories.rules.drafts import MemoryDraft
from memories.services.writing import WriteResult, Written, write_batch
from memoryhub.lib.errors import HubError, NotFound


def require_mem0(access: Access) -> None:
    """Raises NotFound, as for an address that is not there, while the vault's ``mem0_api`` is off."""
    if not effective_settings(access)["mem0_api"].value:
        raise NotFound("There is nothing at this address; an owner opens it with the setting mem0_api.")


def write_turns(access: Access, drafts: Sequence[MemoryDraft]) -> list[WriteResult]:
    """Write what was said in one go: all of it, or nothing where one turn cannot be written.

    Needs memories:write. Raises what writing that turn raised.
    """

    def all_or_nothing(results: Written) -> None:
        for result in results:
            if isinstance(result, HubError):
                raise result

    written = write_batch(access, drafts, all_or_nothing)
    return [result for result in written if not isinstance(result, HubError)]

"""The banks and agents a filter may name, read once for everything that understands one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from banks.access import Access
from banks.models import Agent, Bank
from banks.services.banks import all_banks, pick_bank


class Names:
    """Read when first asked for: a question that names nobody reads nothing."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @cached_property
    def banks(self) -> Sequence[Bank]:
        """Every bank of the vault, also those the caller does not reach."""
        return all_banks(self.access)

    @cached_property
    def agents(self) -> Mapping[str, str]:
        """Agent, by the id its memories carry → its name."""
        rows = Agent.objects.filter(vault_id=self.access.vault_id).values_list("pk", "name")
        return {str(agent_id): name for agent_id, name in rows}

    def bank(self, name: str, pointer: str = "/bank") -> Bank:
        """The bank with that name, slug, alias or id. Raises UnknownBank naming the banks there are."""
        return pick_bank(self.access, self.banks, name, pointer)

    def agent_ids(self, named: str) -> list[str]:
        """What memories of that agent carry: the id as it was written, and those of the agents with that name."""
        wanted = named.casefold()
        return [named, *(agent_id for agent_id, name in self.agents.items() if name.casefold() == wanted)]

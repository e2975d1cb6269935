"""Names of those who acted: history and audit keep only ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from banks.services.names import AGENT, KEY, Actor, find_names
from memories.rules.vocabulary import ActorKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from banks.access import Access


@dataclass(frozen=True, slots=True)
class People:
    """Who is who on a page."""

    names: Mapping[Actor, str]

    def actor(self, actor: Actor) -> str:
        """``key “laptop”``, ``alice``, ``the hub``."""
        name = self.names.get(actor)
        if name is not None:
            return f"key “{name}”" if actor[0] == KEY else name
        return "the hub" if actor[0] == ActorKind.SYSTEM else "somebody no longer here"

    def agent(self, agent_id: str | None) -> str:
        """The agent's name; an id of somebody else's making is shown as it is."""
        return self.names.get((AGENT, agent_id or ""), agent_id or "")


def people_of(access: Access, actors: Iterable[Actor], *, agents: bool = True) -> People:
    """Those among ``actors``, and the vault's agents; one query."""
    return People(find_names(access, actors, agents=agents))


def names_of(access: Access, actors: Iterable[Actor]) -> Callable[[Actor], str]:
    """A function from (kind, id) to a name; one query, none for nobody."""
    return people_of(access, actors, agents=False).actor


def agent_names(access: Access) -> dict[str, str]:
    """The vault's agents by the id their memories carry."""
    return {id_: name for (kind, id_), name in find_names(access, (), agents=True).items() if kind == AGENT}

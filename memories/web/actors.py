"""Names of those who acted: history and audit keep only ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model

from banks.models import Agent, ApiKey
from memories.rules.vocabulary import ActorKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from banks.access import Access

type Actor = tuple[str, str]


def names_of(access: Access, actors: Iterable[Actor]) -> Callable[[Actor], str]:
    """A function from (kind, id) to a name; one query for the keys and one for the people, none for nobody."""
    wanted = set(actors)
    keys = {id_ for kind, id_ in wanted if kind == ActorKind.KEY}
    people = {id_ for kind, id_ in wanted if kind == ActorKind.USER and id_.isdigit()}
    named: dict[Actor, str] = {}
    if keys:
        rows = ApiKey.objects.filter(vault_id=access.vault_id, pk__in=keys).values_list("pk", "name")
        named |= {(ActorKind.KEY.value, str(pk)): f"key “{name}”" for pk, name in rows}
    if people:
        users = get_user_model().objects.filter(pk__in=people).values_list("pk", "username")
        named |= {(ActorKind.USER.value, str(pk)): name for pk, name in users}
    return lambda actor: named.get(actor, "the hub" if actor[0] == ActorKind.SYSTEM else "somebody no longer here")


def agent_names(access: Access) -> dict[str, str]:
    """The vault's agents by the id their memories carry."""
    rows = Agent.objects.filter(vault_id=access.vault_id).values_list("pk", "name")
    return {str(pk): name for pk, name in rows}

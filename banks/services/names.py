"""The names of those who acted: history, audit and memories keep only ids."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth import get_user_model

from banks.access import Access
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id
from memoryhub.lib.statements import fetch

#: Kind and id, as history keeps them: ``("key", "…")``, ``("user", "7")``.
type Actor = tuple[str, str]
AGENT, KEY, USER = "agent", "key", "user"
_USERS_MAX = 2**31 - 1


def find_names(access: Access, actors: Iterable[Actor], *, agents: bool = False) -> dict[Actor, str]:
    """The names of the vault's keys and of people among ``actors``, and of all its agents when asked for.

    One statement, none for nobody. Who is gone has no name here.
    """
    wanted = set(actors)
    keys = [key for kind, id_ in wanted if kind == KEY and (key := _uuid(id_)) is not None]
    people = [int(id_) for kind, id_ in wanted if kind == USER and id_.isdecimal() and int(id_) <= _USERS_MAX]
    if not (keys or people or agents):
        return {}
    named = {"vault": access.vault_id, "keys": keys, "people": people, "agents": agents}
    return {(kind, id_): name for kind, id_, name in fetch(_NAMES, named)}


def _uuid(text: str) -> UUID | None:
    try:
        return parse_id(text)
    except NotFound:
        return None


_USERS = get_user_model()._meta.db_table
_NAMES = f"""
SELECT 'key', id::text, name FROM banks_apikey WHERE vault_id = %(vault)s AND id = ANY(%(keys)s::uuid[])
UNION ALL SELECT 'user', id::text, username FROM {_USERS} WHERE id = ANY(%(people)s::int[])
UNION ALL SELECT 'agent', id::text, name FROM banks_agent WHERE %(agents)s::boolean AND vault_id = %(vault)s
"""

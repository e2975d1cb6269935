"""The filters of a search as SQL, compiled once for all searches that ask with the same ones: most do."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from banks.access import Access
from memories.rules.filters import MemoryFilter
from memories.rules.queryparts import QueryMistake
from memories.search.candidates import Allowed, allowed
from memories.search.filtering import narrowed, understand
from memoryhub.lib.clock import now

REMEMBERED_MAX = 1_024
#: What depends on more than the configuration, or on a moment that is not now.
_NOT_REMEMBERED = frozenset({"q", "agent_id", "created_after", "created_before", "as_of"})
#: Filters that an index serves and that leave few of many: one person's, one conversation's, about one thing.
_NARROW = ("user_id", "session_id", "entity", "fact_key", "external_write_id")
_remembered: dict[tuple[object, ...], Compiled] = {}


@dataclass(frozen=True, slots=True)
class Compiled:
    """Who passes, None when nobody can, and what of the filters' text could not be understood."""

    rows: Allowed | None
    mistakes: tuple[QueryMistake, ...] = ()

    def at(self, moment: dt.datetime) -> Compiled:
        """The same for another moment: the only time in remembered filters is the one that expiry is compared with."""
        if self.rows is None:
            return self
        params = [moment if isinstance(value, dt.datetime) else value for value in self.rows.params]
        return replace(self, rows=replace(self.rows, params=params))


def compiled(access: Access, wanted: MemoryFilter, version: int) -> Compiled:
    """The filters for this caller, as of a version of the vault's configuration. Raises UnknownBank."""
    given = wanted.model_dump(exclude_defaults=True)
    if given.keys() & _NOT_REMEMBERED:
        return _compile(access, wanted)
    isolated = access.agent is not None and access.agent.is_isolated
    key = (access.vault_id, version, access.agent_id, isolated, access.bank_ids, repr(sorted(given.items())))
    found = _remembered.get(key)
    if found is None:
        found = _compile(access, wanted)
        if len(_remembered) >= REMEMBERED_MAX:
            _remembered.clear()
        _remembered[key] = found
    return found.at(now())


def _compile(access: Access, wanted: MemoryFilter) -> Compiled:
    understood = understand(access, wanted)
    rows = allowed(narrowed(access, understood.given))
    if rows is not None and any(understood.given.get(name) for name in _NARROW):
        rows = replace(rows, is_narrow=True)
    return Compiled(rows, understood.mistakes)

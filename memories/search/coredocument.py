"""Read the core document of a namespace, in any version, and what changed between two (DEF-19, CON-19).

A line is shown to whoever may read every memory it came from.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from banks.access import Access, KeyScope
from banks.models import Agent, Bank
from memories.models import CoreDocument, CoreVersion
from memories.rules.corediff import LineChange, changed_lines
from memories.rules.coretext import CoreLine
from memories.rules.tiermarkdown import Names
from memories.search.notes import DEFAULT
from memories.search.reach import known_to, within
from memoryhub.lib.errors import NotFound


@dataclass(frozen=True, slots=True)
class MadeVersion:
    """Who made a version, when, and which one it went back to, if any."""

    number: int
    restored_from: int | None
    actor_kind: str
    actor_id: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A version as the caller may read it; 0 is the empty document before the first, ``newest`` the one that holds."""

    namespace: list[str]
    version: int
    newest: int
    lines: list[CoreLine]
    created_at: dt.datetime | None
    names: Names


def read_core_document(access: Access, namespace: Sequence[str] = DEFAULT, version: int | None = None) -> ShownDocument:
    """The newest version, or the one asked for. Needs memories:read. Raises NotFound for a version there is not."""
    access.require(KeyScope.MEMORIES_READ)
    return _read(access, namespace, [version])[0]


def read_core_versions(access: Access, namespace: Sequence[str], *versions: int) -> list[ShownDocument]:
    """Several versions, in as many statements as one takes. Needs memories:read. Raises NotFound."""
    access.require(KeyScope.MEMORIES_READ)
    return _read(access, namespace, versions)


def _read(access: Access, namespace: Sequence[str], versions: Sequence[int | None]) -> list[ShownDocument]:
    document = CoreDocument.objects.filter(vault_id=access.vault_id, namespace=list(namespace)).first()
    newest = document.version if document else 0
    numbers = [newest if version is None else version for version in versions]
    rows = CoreVersion.objects.filter(vault_id=access.vault_id, document=document, number__in=numbers)
    found = {row.number: row for row in rows}
    if any(number != 0 and number not in found for number in numbers):
        raise NotFound("There is no such version of the core document.")
    stored = {number: [CoreLine.read(line) for line in row.lines] for number, row in found.items()}
    known = known_to(access, (one for lines in stored.values() for line in lines for one in line.memory_ids))
    shown = {number: [one for one in lines if within(one.memory_ids, known)] for number, lines in stored.items()}
    names = names_in(access, (line for lines in shown.values() for line in lines))
    return [
        ShownDocument(
            list(namespace),
            number,
            newest,
            shown.get(number, []),
            found[number].created_at if number in found else None,
            names,
        )
        for number in numbers
    ]


def readable_lines(access: Access, lines: Sequence[CoreLine]) -> list[CoreLine]:
    """Those the caller may read."""
    known = known_to(access, (one for line in lines for one in line.memory_ids))
    return [line for line in lines if within(line.memory_ids, known)]


def list_core_versions(
    access: Access, namespace: Sequence[str] = DEFAULT, limit: int = 50, before: int | None = None
) -> list[MadeVersion]:
    """The newest versions, or those before a number, without their lines. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    rows = CoreVersion.objects.filter(document__vault_id=access.vault_id, document__namespace=list(namespace))
    rows = rows.filter(number__lt=before) if before is not None else rows
    made = rows.order_by("-number").values_list("number", "restored_from", "actor_kind", "actor_id", "created_at")
    return [MadeVersion(*values) for values in made[:limit]]


def compare_core_versions(
    access: Access, namespace: Sequence[str], before: int, after: int
) -> tuple[ShownDocument, ShownDocument, list[LineChange]]:
    """Two versions and the lines that differ. Needs memories:read. Raises NotFound."""
    older, newer = read_core_versions(access, namespace, before, after)
    return older, newer, changed_lines(older.lines, newer.lines)


def names_in(access: Access, lines: Iterable[CoreLine]) -> Names:
    """What the banks and agents of these lines are called now."""
    audiences = {line.audience for line in lines}
    banks = Bank.objects.filter(vault_id=access.vault_id, pk__in={one.bank_id for one in audiences})
    agents = Agent.objects.filter(vault_id=access.vault_id)
    return Names(
        {str(bank_id): name for bank_id, name in banks.values_list("pk", "name")},
        {str(agent_id): name for agent_id, name in agents.values_list("pk", "name")}
        if any(one.agent_id for one in audiences)
        else {},
    )

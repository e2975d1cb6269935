"""What an import brings beside memories: banks, links and chains, conversations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from banks.access import Access, KeyScope
from banks.services.banks import BankNameTaken, create_bank, list_banks, name_key
from banks.services.drafts import BankDraft
from memories.models import ChangesetItem, ImportChunk, Link, Memory, Message, Session, VaultImport
from memories.rules.exchange import BankLine, LinkLine, MessageLine, Refusal, SessionLine
from memories.rules.imports import Found, Tally
from memories.services.contention import lock_chains
from memories.services.linewrites import Bringing
from memoryhub.lib.bulk import insert_rows

_NOT_HERE = "names a memory that was not imported"


def bring_banks(
    access: Access, options: Mapping[str, Any], lines: Sequence[tuple[int, BankLine]], tally: Tally
) -> None:
    """Make the banks that are missing, if the caller may; each in a transaction of its own."""
    known = {bank.name_key for bank in list_banks(access, include_hidden=True)}
    for number, line in lines:
        if name_key(line.name) in known:
            tally.add("bank", Found.SAME)
        elif KeyScope.BANKS_ADMIN not in options["may"]:
            tally.refuse("bank", Refusal(number, "missing_scope", "is a new bank, which needs the scope banks:admin"))
        else:
            try:
                create_bank(access, BankDraft(name=line.name, description=line.description))
                tally.add("bank", Found.NEW)
            except BankNameTaken:
                tally.refuse("bank", Refusal(number, "bank_name_taken", "has a name that means another bank"))


def bring_links(bringing: Bringing, lines: Sequence[tuple[int, LinkLine]]) -> None:
    """Restore links whose ends are here, and chains among the memories this import made; in the running transaction."""
    if not lines:
        return
    access, tally = bringing.context.access, bringing.tally
    lock_chains(access.vault_id)
    twins = twins_of(bringing.owner)
    ends = {end: _here(bringing, twins, end) for _, line in lines for end in (line.source, line.target)}
    rows = Memory.objects.visible_to(access).filter(pk__in=set(ends.values()))
    seen = dict(rows.values_list("pk", "superseded_by"))
    made = _made(bringing, seen)
    links, chained = [], dict[UUID, UUID]()
    for number, line in lines:
        source, target = ends[line.source], ends[line.target]
        if source not in seen or target not in seen or source == target:
            tally.refuse("link", Refusal(number, "not_found", _NOT_HERE))
        elif not {source, target} & made:
            tally.add("link", Found.SAME)
        else:
            links.append(
                Link(
                    id=bringing.id_here(line.id),
                    vault_id=access.vault_id,
                    source_id=source,
                    target_id=target,
                    relation=line.relation.value,
                    created_at=line.created_at,
                )
            )
            tally.add("link", Found.NEW)
            if line.is_chain and target in made:
                chained[target] = source
    Link.objects.bulk_create(links, ignore_conflicts=True)
    _chain(access.vault_id, chained)


def twins_of(owner: VaultImport) -> dict[UUID, UUID]:
    """Ids memories of the file would have → those they have, where they were here already."""
    found: dict[UUID, UUID] = {}
    for twins in ImportChunk.objects.filter(owner=owner).exclude(twins={}).values_list("twins", flat=True):
        found |= {UUID(source): UUID(here) for source, here in twins.items()}
    return found


def bring_sessions(bringing: Bringing, lines: Sequence[tuple[int, SessionLine]]) -> None:
    """Restore conversations that are not here, read as far as they were: nothing is extracted from them again."""
    if not lines:
        return
    access, tally = bringing.context.access, bringing.tally
    private = access.agent_id if access.agent and access.agent.is_isolated else None
    rows = Session.objects.filter(vault_id=access.vault_id, private_to=private, sid__in=[line.sid for _, line in lines])
    there = set(rows.values_list("sid", flat=True))
    ids = [bringing.id_here(line.id) for _, line in lines]
    taken = set(Session.objects.filter(vault_id=access.vault_id, pk__in=ids).values_list("pk", flat=True))
    for number, line in lines:
        if KeyScope.SESSIONS not in bringing.owner.options["may"]:
            tally.refuse("session", Refusal(number, "missing_scope", "needs the scope sessions"))
        elif line.sid in there or bringing.id_here(line.id) in taken:
            tally.add("session", Found.SAME)
        else:
            there.add(line.sid)
            said = line.model_dump(exclude={"kind", "id"})
            through = min(line.extracted_through, line.last_number), min(line.summarized_through, line.last_number)
            row = Session(id=bringing.id_here(line.id), vault_id=access.vault_id, private_to=private, **said)
            row.extracted_through, row.summarized_through = through
            row.save(force_insert=True)
            tally.add("session", Found.NEW)


def bring_messages(bringing: Bringing, lines: Sequence[tuple[int, MessageLine]]) -> None:
    """Restore the turns of conversations this file brought; a conversation that was here keeps its own."""
    if not lines:
        return
    vault_id, tally = bringing.context.access.vault_id, bringing.tally
    sessions = {bringing.id_here(line.session) for _, line in lines}
    mine = Session.objects.filter(vault_id=vault_id, pk__in=sessions)
    last = dict(mine.values_list("pk", "last_number"))
    rows = Message.objects.filter(vault_id=vault_id, session__in=last)
    there = set(rows.values_list("session", "number"))
    ids = [bringing.id_here(line.id) for _, line in lines]
    taken = set(Message.objects.filter(vault_id=vault_id, pk__in=ids).values_list("pk", flat=True))
    named = set(rows.exclude(external_id=None).values_list("session", "external_id"))
    fresh = []
    for number, line in lines:
        session = bringing.id_here(line.session)
        if session not in last or (session, line.number) in there or bringing.id_here(line.id) in taken:
            tally.add("message", Found.SAME)
        elif line.number > last[session] or (session, line.external_id) in named:
            tally.refuse("message", Refusal(number, "no_place", "has no place in its conversation"))
        else:
            there.add((session, line.number))
            named |= {(session, line.external_id)} if line.external_id else set()
            said: dict[str, Any] = {**line.model_dump(exclude={"kind", "id", "session"}), "role": line.role.value}
            fresh.append(Message(id=bringing.id_here(line.id), vault_id=vault_id, session_id=session, **said))
            tally.add("message", Found.NEW)
    insert_rows(fresh)


def _here(bringing: Bringing, twins: Mapping[UUID, UUID], source: UUID) -> UUID:
    derived = bringing.id_here(source)
    return twins.get(derived, derived)


def _made(bringing: Bringing, ids: Iterable[UUID]) -> set[UUID]:
    """Those of ``ids`` that this import created."""
    items = ChangesetItem.objects.filter(changeset=bringing.owner.changeset, memory_id__in=list(ids), version_before=0)
    return set(items.values_list("memory", flat=True))


def _chain(vault_id: UUID, chained: Mapping[UUID, UUID]) -> None:
    """Let the old ones name their successors, except where a file would close a circle (SUP-07)."""
    following: dict[UUID, UUID | None] = {}

    def successor(memory_id: UUID) -> UUID | None:
        if memory_id not in following:
            rows = Memory.objects.in_vault(vault_id).filter(pk=memory_id)
            following[memory_id] = rows.values_list("superseded_by", flat=True).first()
        return following[memory_id]

    for row_id, next_id in (
        Memory.objects.in_vault(vault_id)
        .filter(pk__in={*chained, *chained.values()})
        .values_list("pk", "superseded_by")
    ):
        following[row_id] = next_id
    for old, new in chained.items():
        if following.get(old) is not None:
            continue
        head: UUID | None = new
        while head is not None and head != old:
            head = successor(head)
        if head is None:
            following[old] = new
            Memory.objects.filter(pk=old, superseded_by=None).exclude(archived_at=None).update(superseded_by=new)

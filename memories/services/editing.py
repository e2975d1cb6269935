"""Edit a memory in place, or bring back one of its versions (API-08, SUP-06)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from memories.models import Memory, Revision
from memories.rules.drafts import MemoryChanges
from memories.rules.trust import lower, trust_of_writer
from memories.rules.vocabulary import Trust
from memories.search.reading import reaches_version
from memories.services.contention import despite_deadlocks
from memories.services.context import WriteContext
from memories.services.preparing import check_length
from memories.services.revising import SAID, Change, VersionUnreadable, change_memory, differs, locked_memory, thawed
from memories.services.superseding import rewritten_trust
from memoryhub.lib.errors import NotFound


@despite_deadlocks
def update_memory(
    access: Access, memory_id: str | UUID, changes: MemoryChanges, expected_version: int | None = None
) -> Memory:
    """Change what ``changes`` names, as a new version. Needs memories:write; raising trust needs memories:approve.

    Raises NotFound, StaleVersion, UnknownBank, DuplicateContent, Invalid.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        memory = locked_memory(access, memory_id, expected_version)
        context = WriteContext.of(access)
        values = _values(context, memory, changes)
        change_memory(context, memory, Change("update_memory", values, changes.reason))
    return memory


def _values(context: WriteContext, memory: Memory, changes: MemoryChanges) -> dict[str, Any]:
    values = changes.given()
    if "bank" in values:
        values["bank_id"] = UUID(str(context.bank(values.pop("bank")).pk))
    for name in ("type", "category", "role"):
        if values.get(name) is not None:
            values[name] = values[name].value
    settings = context.settings_in(values.get("bank_id", memory.bank_id))
    check_length(values.get("content", ""), settings["content_max_length"])
    if "trust" in values:
        if Trust(values["trust"]).rank > Trust(memory.trust).rank:
            context.access.require(KeyScope.MEMORIES_APPROVE)
    elif "content" in values and differs(memory, "content", values["content"]):
        access = context.access
        ceiling = Trust(access.agent.trust_ceiling) if access.agent else Trust.VERIFIED
        writer = trust_of_writer(access.actor.kind, ceiling)
        values["trust"] = rewritten_trust(context, memory, writer).value
    return values


@despite_deadlocks
def restore_version(access: Access, memory_id: str | UUID, version: int, expected_version: int | None = None) -> Memory:
    """Make an earlier version's content and labels the newest version. Needs memories:write.

    Raises NotFound for a version that is not kept, StaleVersion, DuplicateContent.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    with transaction.atomic():
        memory = locked_memory(access, memory_id, expected_version)
        kept = Revision.objects.filter(memory=memory, version=version).first()
        if kept is None or not reaches_version(access, kept):
            raise NotFound(f"Version {version} is not kept; the history lists those that are.")
        before = kept.before
        if before.get("content") is None:
            raise VersionUnreadable
        values = {name: thawed(name, before[name]) for name in SAID if name in before}
        # What was believed less then is not believed more for having been replaced in between.
        values["trust"] = lower(Trust(memory.trust), Trust(before.get("trust", memory.trust))).value
        change_memory(WriteContext.of(access), memory, Change("restore_version", values, f"version {version}"))
    return memory

"""The tools: what each is for, who may call it, and the one service function it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StrictBool

from banks.access import Access, KeyScope
from banks.services import banks
from memories.mcp import schemas
from memories.mcp.shapes import banks_shown, hit_shown, memory_shown, plan_shown, written_shown
from memories.rules import limits
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import Label, MemoryChanges, MemoryDraft, Reason
from memories.rules.filters import SearchQuery
from memories.rules.vocabulary import AccessPurpose
from memories.search import reading, recall
from memories.search.relatives import relatives
from memories.services import applying, editing, lifecycle, plans, writing
from memories.services.accesses import record_accesses
from memoryhub.lib.metrics import MEMORIES_WRITTEN, SEARCHES
from memoryhub.lib.strict import StrictModel

#: The rest is reviewed in the browser.
CANDIDATES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``takes`` is told to callers as ``schema`` and ``answers`` is the shape of what ``body`` makes of it.

    ``writes``, ``ask_first`` (a client should ask a person) and ``repeatable`` become its annotations.
    """

    name: str
    title: str
    description: str
    scope: KeyScope
    takes: type[StrictModel]
    schema: Mapping[str, Any]
    answers: Mapping[str, Any]
    body: Callable[[Access, dict[str, Any]], dict[str, Any]]
    writes: bool = True
    ask_first: bool = False
    repeatable: bool = True


class Reading(StrictModel):
    """Which memories to read."""

    ids: Annotated[list[Label], Field(min_length=1, max_length=limits.READ_IDS_MAX)]


class Updating(MemoryChanges):
    """A memory and what to change in it."""

    id: Label
    expected_version: Annotated[int, Field(ge=1, strict=True)] | None = None

    def changes(self) -> MemoryChanges:
        """The same without what only says which memory is meant."""
        named = self.model_fields_set - {"id", "expected_version"}
        return MemoryChanges.model_validate({name: getattr(self, name) for name in named})


class Archiving(StrictModel):
    """A memory to hide from recall, or with ``archived`` false to bring back."""

    aliases = {"memoryId": "id", "memory_id": "id"}

    id: Label
    archived: StrictBool = True
    reason: Reason = ""


class Cleaning(CleanupWish):
    """What a clean-up looks for; it only looks unless told otherwise."""

    dry_run: StrictBool = True

    def wish(self) -> CleanupWish:
        """The same without how to go about it."""
        named = self.model_fields_set - {"dry_run"}
        return CleanupWish.model_validate({name: getattr(self, name) for name in named})


class Nothing(StrictModel):
    """No arguments."""


def write_memory(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """Write one memory; the answer says what became of it."""
    result = writing.write_memory(access, MemoryDraft.parse(_in_its_bank(access, arguments)))
    MEMORIES_WRITTEN.labels(result.outcome.value).inc()
    return written_shown(result)


def _in_its_bank(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """A key or an address of one bank means that bank."""
    if access.bank_ids is None or len(access.bank_ids) != 1 or {"bank", "memoryBank", "memory_bank"} & arguments.keys():
        return arguments
    return {**arguments, "bank": str(next(iter(access.bank_ids)))}


def search_memories(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """Memories that answer a question, best first."""
    query = SearchQuery.parse(arguments)
    answer = recall.search_memories(access, query)
    SEARCHES.labels(str(bool(answer.degraded)).lower()).inc()
    kin = relatives(access, [hit.memory for hit in answer.hits], query.as_of)
    ids, scores = [hit.memory.pk for hit in answer.hits], [hit.score for hit in answer.hits]
    record_accesses(access, ids, AccessPurpose.SEARCH, query.query, scores)
    shown: dict[str, Any] = {
        "results": [hit_shown(hit, kin[hit.memory.pk], compact=query.compact) for hit in answer.hits]
    }
    return shown | ({"degraded": list(answer.degraded)} if answer.degraded else {})


def read_memories(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """Full memories by id, whatever their state, and the ids that are not there."""
    found, missing = reading.read_memories(access, Reading.parse(arguments).ids)
    record_accesses(access, [memory.pk for memory in found], AccessPurpose.READ)
    kin = relatives(access, found)
    return {"results": [memory_shown(memory, kin[memory.pk]) for memory in found], "missing": missing}


def update_memory(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """Change what is given; the version to name next time."""
    wanted = Updating.parse(arguments)
    memory = editing.update_memory(access, wanted.id, wanted.changes(), wanted.expected_version)
    return {"id": memory.pk, "version": memory.version, "status": memory.status}


def archive_memory(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """Hide it from recall, or bring it back."""
    wanted = Archiving.parse(arguments)
    memory = lifecycle.archive_memory(access, wanted.id, wanted.archived, wanted.reason)
    return {"id": memory.pk, "archived": memory.archived, "version": memory.version}


def cleanup_memories(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a clean-up would archive, kept as a plan for review; with ``dry_run`` false it is applied by a job."""
    wanted = Cleaning.parse(arguments)
    plan = applying.cleanup_memories(access, wanted.wish(), wanted.dry_run)
    items = plans.list_plan_items(access, plan.pk, plans.PlanItemFilter(ticked=True), CANDIDATES_SHOWN).items
    return plan_shown(plan, items, dry_run=wanted.dry_run)


def list_banks(access: Access, arguments: dict[str, Any]) -> dict[str, Any]:
    """The banks there are."""
    Nothing.parse(arguments)
    return banks_shown(banks.list_banks(access))


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "search_memories",
            "Search memories",
            "Find memories by meaning and words. Ask before you answer from memory, and before you write.",
            KeyScope.MEMORIES_READ,
            SearchQuery,
            schemas.SEARCH_MEMORIES,
            schemas.FOUND,
            search_memories,
            writes=False,
        ),
        Tool(
            "read_memories",
            "Read memories",
            "Full text of memories by id, whatever their state.",
            KeyScope.MEMORIES_READ,
            Reading,
            schemas.READ_MEMORIES,
            schemas.READ,
            read_memories,
            writes=False,
        ),
        Tool(
            "write_memory",
            "Remember",
            "Remember one thing. Duplicates are noticed and corrections replace what they correct; the answer's"
            " outcome says what happened. Never write secrets.",
            KeyScope.MEMORIES_WRITE,
            MemoryDraft,
            schemas.WRITE_MEMORY,
            schemas.WRITTEN,
            write_memory,
            repeatable=False,
        ),
        Tool(
            "update_memory",
            "Change a memory",
            "Change a memory in place; its history is kept. For knowledge that changed, write a correction instead.",
            KeyScope.MEMORIES_WRITE,
            Updating,
            schemas.UPDATE_MEMORY,
            schemas.UPDATED,
            update_memory,
        ),
        Tool(
            "archive_memory",
            "Archive or bring back",
            "Hide a memory from recall, or bring it back. Nothing is deleted.",
            KeyScope.MEMORIES_DELETE,
            Archiving,
            schemas.ARCHIVE_MEMORY,
            schemas.ARCHIVED,
            archive_memory,
        ),
        Tool(
            "cleanup_memories",
            "Clean up",
            "Find stale, superseded, failed or duplicate memories; archives them only with dryRun false (undoable).",
            KeyScope.CLEANUP_PLAN,
            Cleaning,
            schemas.CLEANUP_MEMORIES,
            schemas.CLEANED,
            cleanup_memories,
            ask_first=True,
            repeatable=False,
        ),
        Tool(
            "list_banks",
            "List banks",
            "The banks (topics) memories are kept in.",
            KeyScope.MEMORIES_READ,
            Nothing,
            schemas.LIST_BANKS,
            schemas.BANKS,
            list_banks,
            writes=False,
        ),
    )
}

"""What would become of a text: tried with the very verb that writes, and taken back before anybody can see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.rules.drafts import MemoryDraft
from memories.rules.facts import Fact, Verdict, verdict_of
from memories.rules.firstperson import facts_in
from memories.search.reading import memories_by_id
from memories.services.contention import despite_deadlocks
from memories.services.known import known_bank
from memories.services.writing import WriteResult, write_memory
from memoryhub.lib.errors import HubError

#: Facts of one text that are tried.
FACTS_MAX = 20


@dataclass(frozen=True, slots=True)
class Trial:
    """One memory that would be written, or why not; ``met`` is what is there already and decided it."""

    content: str
    bank: str
    result: WriteResult | None
    met: Memory | None = None
    verdict: Verdict | None = None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Trials:
    """The text as it is, and the facts that patterns find in it; no model is asked and nothing is stored."""

    as_it_is: Trial
    facts: list[Trial]


def try_text(access: Access, bank: str, text: str) -> Trials:
    """What writing ``text`` into a bank would do, and what extraction would find. Needs memories:write.

    Raises Invalid for a text that no memory can hold, UnknownBank.
    """
    access.require(KeyScope.MEMORIES_WRITE)
    as_it_is = _tried(access, MemoryDraft.parse({"content": text, "bank": bank}))
    return Trials(as_it_is, [_fact(access, fact, bank) for fact in facts_in(text)[:FACTS_MAX]])


def _fact(access: Access, fact: Fact, bank: str) -> Trial:
    verdict, name = verdict_of(fact), known_bank(access, fact.bank) or bank
    if verdict in {Verdict.DOUBTFUL, Verdict.REFUSED}:
        return Trial(fact.text, name, None, verdict=verdict)
    said: dict[str, Any] = {"content": fact.text, "bank": name, "type": fact.type, "fact_key": fact.key}
    return _tried(access, MemoryDraft.parse(said), verdict)


def _tried(access: Access, draft: MemoryDraft, verdict: Verdict | None = None) -> Trial:
    try:
        result, met = _written_and_taken_back(access, draft)
    except HubError as error:
        return Trial(draft.content, draft.bank or "", None, verdict=verdict, refused=error.message)
    return Trial(draft.content, result.memory.bank.name, result, met, verdict)


@despite_deadlocks
def _written_and_taken_back(access: Access, draft: MemoryDraft) -> tuple[WriteResult, Memory | None]:
    """The result with the memory it met, read before everything is undone; what waits for a commit never happens."""
    with transaction.atomic():
        result = write_memory(access, draft)
        named = result.duplicate_of or result.superseded_id or result.similar_to
        met = memories_by_id(access, [named]).get(named) if named else None
        transaction.set_rollback(True)
    return result, met

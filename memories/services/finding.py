"""Find facts in the turns of a conversation: by a language model, or by patterns where there is none (EXT)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from banks.access import Access
from memories.calls.asking import ModelQuestion, ask_model
from memories.calls.ledger import record_skip
from memories.models import Message, Session
from memories.rules.extracted import ExtractedFacts
from memories.rules.extractionprompt import Conversation, Spoken, extraction_prompt
from memories.rules.facts import Fact
from memories.rules.firstperson import facts_in
from memories.rules.vocabulary import MemoryCategory, Purpose, Role, SkipReason, SourceKind
from memories.services.known import known_bank, offered_banks, related_memories
from memoryhub.providers.chat import Turn
from memoryhub.providers.registry import get_chat_model

#: Who is listened to. What a tool brings in, and what an operator set up, is nothing the user said.
HEARD = (Role.HUMAN, Role.AI)


@dataclass(frozen=True, slots=True)
class Found:
    """Facts with the banks they go to, who found them, and how that counts as a source.

    ``answered`` is False when a model should have been asked and gave no answer.
    """

    facts: list[Fact]
    extractor: str
    source_kind: SourceKind
    answered: bool = True


def find_facts(
    access: Access, session: Session, messages: Sequence[Message], settings: Mapping[str, Any], *, required: bool = True
) -> Found:
    """The facts of these turns; ``access`` is whose hands they will be written with. Outside any transaction.

    No model is asked when there is nothing new that a person said. Raises ModelUnavailable when one is ``required``
    and does not answer.
    """
    heard = [message for message in messages if message.role in HEARD]
    fresh = [message for message in heard if message.role == Role.HUMAN and not message.is_saved]
    if get_chat_model() is None:
        facts = [fact for message in fresh for fact in facts_in(message.content, message.number)]
        return Found(_in_known_banks(access, facts), "extractive", SourceKind.AGENT_INFERRED)
    if not fresh:
        said = any(message.role == Role.HUMAN for message in heard)
        reason = SkipReason.SHORTCUT if said else SkipReason.NOTHING_NEW
        record_skip(access, Purpose.EXTRACT, reason, [UUID(str(session.pk))])
        return Found([], "none", SourceKind.LLM_DERIVED)
    instructions, material = extraction_prompt(_conversation(access, session, heard, settings))
    turns = (Turn("system", instructions), Turn("user", material))
    question = ModelQuestion(
        Purpose.EXTRACT, turns, ExtractedFacts, subjects=[UUID(str(session.pk))], required=required
    )
    answer = ask_model(access, question)
    numbers = [message.number for message in fresh]
    given = answer.value.memories if answer.value else []
    facts = _in_known_banks(access, [one.to_fact(numbers) for one in given])
    return Found(facts, "llm", SourceKind.LLM_DERIVED, answered=answer.value is not None)


def _in_known_banks(access: Access, facts: Sequence[Fact]) -> list[Fact]:
    return [replace(fact, bank=known_bank(access, fact.bank)) for fact in facts]


def _conversation(
    access: Access, session: Session, messages: Sequence[Message], settings: Mapping[str, Any]
) -> Conversation:
    banks, default = offered_banks(access)
    return Conversation(
        banks=banks,
        default_bank=default,
        categories=[category.value for category in MemoryCategory],
        types=settings["extraction_types"],
        known=related_memories(access, session, messages),
        messages=[Spoken(one.number, one.role, one.content) for one in messages],
        boundary=secrets.token_hex(8),
    )

"""What an extractor is told of a vault: its banks, and the memories that bear on a conversation (EXT-07, EXT-20)."""

from __future__ import annotations

from collections.abc import Sequence

from banks.access import Access
from banks.services.banks import UnknownBank, find_bank, list_banks, pick_default
from memories.models import Message, Session
from memories.rules.extractionprompt import Bank
from memories.rules.filters import SearchQuery
from memories.rules.limits import QUERY_MAX
from memories.rules.vocabulary import Role
from memories.search.recall import search_memories

KNOWN_MEMORIES = 10


def known_bank(access: Access, name: str | None) -> str | None:
    """The name as the bank has it; None for an unknown one, which means the default bank (BNK-05)."""
    try:
        return find_bank(access, name).name if name else None
    except UnknownBank:
        return None


def offered_banks(access: Access) -> tuple[list[Bank], str]:
    """The banks for a prompt, and the name of the default one. Raises UnknownBank when that is out of reach."""
    banks = list_banks(access)
    return [Bank(bank.name, bank.description) for bank in banks], pick_default(access, banks).name


def related_memories(access: Access, session: Session, messages: Sequence[Message]) -> list[str]:
    """What is remembered already that comes near to what people said, the best first (EXT-07)."""
    said = "\n".join(message.content for message in messages if message.role == Role.HUMAN)[:QUERY_MAX].strip()
    if not said:
        return []
    whose = {"user_id": [session.user_id]} if session.user_id else {}
    query = SearchQuery.parse({"query": said, "top_k": KNOWN_MEMORIES, "namespace": session.namespace, **whose})
    return [hit.memory.content for hit in search_memories(access, query).hits]

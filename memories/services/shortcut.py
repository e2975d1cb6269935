"""Save short preferences as they come in: no model is asked, now or later (OPT-06, OPT-08, OPT-10, OPT-13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import structlog

from banks.access import Access
from memories.models import Message, Session
from memories.rules.facts import draft_of
from memories.rules.shortcut import preference_in
from memories.rules.vocabulary import Role, SourceKind, Status
from memories.services.acting import acting_in, origin_of
from memories.services.known import known_bank
from memories.services.notes import note_memories
from memories.services.renewing import write_facts
from memoryhub.lib.errors import HubError
from memoryhub.lib.metrics import EXTRACTION_SHORTCUTS

log = structlog.get_logger(__name__)


def save_preferences(
    access: Access, session: Session, messages: Sequence[Message], settings: Mapping[str, Any]
) -> dict[UUID, UUID]:
    """Message → the memory it became, for those that plainly state a preference and nothing else.

    A message whose preference could not be written is left for extraction.
    """
    if not settings["enable_short_preference_shortcut"]:
        return {}
    words, longest = settings["preference_keywords"], settings["short_preference_max_length"]
    stated = [
        (message, fact)
        for message in messages
        if message.role == Role.HUMAN and (fact := preference_in(message.content, words, longest)) is not None
    ]
    # Two that may contradict each other are read together, in their order.
    once = Counter(fact.key for _, fact in stated)
    stated = [(message, fact) for message, fact in stated if once[fact.key] == 1]
    if not stated:
        return {}
    acting, origin = acting_in(access, session, messages), origin_of(session, messages)
    drafts = [
        draft_of(
            replace(fact, bank=known_bank(acting, fact.bank), sources=(message.number,)),
            origin,
            Status.ACCEPTED,
            SourceKind.AGENT_INFERRED,
        )
        for message, fact in stated
    ]
    saved: dict[UUID, UUID] = {}

    def note(results: Sequence[Any]) -> None:
        saved.clear()
        for (message, _), result in zip(stated, results, strict=True):
            if not isinstance(result, HubError):
                saved[UUID(str(message.pk))] = UUID(str(result.memory.pk))
        Message.objects.filter(pk__in=saved).update(is_saved=True)
        told = [message for message, _ in stated]
        note_memories(acting, session, told, zip(drafts, results, strict=True), settings)

    try:
        write_facts(acting, drafts, note)
    except HubError as error:
        log.warning("shortcut_left", session_id=str(session.pk), error=error.code)
        return {}
    EXTRACTION_SHORTCUTS.inc(len(saved))
    return saved

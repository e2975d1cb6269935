"""Whose hands the hub acts with when it makes memories of a conversation: never freer than those who spoke in it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from banks.access import Access, acting_for, system_access
from banks.models import Agent
from memories.models import Message, Session
from memories.rules.facts import Origin
from memories.rules.vocabulary import Trust


def acting_in(access: Access, session: Session, messages: Iterable[Message]) -> Access:
    """The hub's access narrowed to the least trusted agent that spoke, and to the banks every writer reached.

    So an agent that may claim little cannot have a conversation claim more for it.
    """
    ids = {message.agent_id for message in messages if message.agent_id}
    agents = Agent.objects.select_related("vault").filter(vault_id=access.vault_id, pk__in=[UUID(one) for one in ids])
    least = min(agents, key=lambda agent: Trust(agent.trust_ceiling).rank, default=None)
    banks = None if session.bank_ids is None else frozenset(session.bank_ids)
    return acting_for(system_access(access.vault_id, access.request_id), least, banks)


def origin_of(session: Session, messages: Iterable[Message]) -> Origin:
    """Where facts found in these messages are from."""
    return Origin(
        session_id=session.sid,
        namespace=session.namespace,
        user_id=session.user_id,
        agent_id=session.agent_id,
        task_id=session.task_id,
        messages={message.number: UUID(str(message.pk)) for message in messages},
    )

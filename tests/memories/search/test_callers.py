"""What keys, agents and banks did lately."""

from __future__ import annotations

import pytest

from banks.access import Access
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.rules.vocabulary import AccessPurpose
from memories.search.callers import NOTHING, doings_of_agents, doings_of_keys, use_of_banks
from memories.services.accesses import flush_accesses, record_accesses
from tests.factories import access_of, make_key, remember

pytestmark = pytest.mark.django_db


def test_writes_and_reads_are_counted_by_key_and_by_agent(access: Access):
    flush_accesses()
    agent = create_agent(access, AgentDraft(name="Clerk"))
    key, secret = make_key(access, agent=str(agent.pk))
    idle, _ = make_key(access, name="idle")
    caller = access_of(secret)
    memory = remember(caller, "Written by the clerk.", bank="Work")
    record_accesses(caller, [memory.pk], AccessPurpose.SEARCH, "clerk?")
    flush_accesses()
    did = doings_of_keys(access)[str(key.pk)]
    assert (did.writes, did.reads, did.writes_today, did.reads_today) == (1, 1, 1, 1)
    assert did.wrote_at is not None
    assert did.read_at is not None
    assert doings_of_keys(access).get(str(idle.pk), NOTHING) == NOTHING
    assert doings_of_agents(access)[str(agent.pk)].writes == 1


def test_banks_say_when_they_were_used_last(access: Access):
    flush_accesses()
    memory = remember(access, "In the bank Work.", bank="Work")
    record_accesses(access, [memory.pk], AccessPurpose.READ)
    flush_accesses()
    memory.refresh_from_db()
    used = use_of_banks(access)
    assert used[memory.bank_id].wrote_at == memory.created_at
    assert used[memory.bank_id].recalled_at == memory.last_accessed_at is not None
    assert {use.wrote_at for bank, use in used.items() if bank != memory.bank_id} == {None}

"""Banks, agents and keys changed by several callers at once, with real threads and connections: nothing is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from banks.access import Access, system_access
from banks.models import Agent, ApiKey, AuditEntry, Bank
from banks.services.agents import UnknownAgent, create_agent, retire_agent, update_agent
from banks.services.banks import BankNameTaken, DefaultBankStays, create_bank, update_bank
from banks.services.drafts import AgentChanges, AgentDraft, BankChanges, BankDraft
from banks.services.keys import KeyNotLive, revoke_key, rotate_key
from memoryhub.lib.errors import NotFound
from tests.factories import access_of, make_key, make_vault, operator
from tests.racing import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def access() -> Access:
    return operator(make_vault("Race"))


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What each call gave, or the exception it ended with, whatever their types."""
    return list(together(calls))


def again(access: Access) -> Access:
    """The same permission in the thread that runs."""
    return system_access(access.vault_id, "race")


def rotate(access: Access, key: ApiKey) -> tuple[ApiKey, str]:
    return rotate_key(again(access), key.pk)


def revoke(access: Access, key: ApiKey) -> ApiKey:
    return revoke_key(again(access), key.pk)


def key_for(access: Access, agent: Agent) -> tuple[ApiKey, str]:
    return make_key(again(access), agent=str(agent.pk))


def retire(access: Access, agent: Agent) -> Agent:
    return retire_agent(again(access), agent.pk)


def new_bank(access: Access, name: str) -> Bank:
    return create_bank(again(access), BankDraft.parse({"name": name}))


def change_bank(access: Access, named: str, /, **changes: object) -> Bank:
    return update_bank(again(access), named, BankChanges.parse(changes))


def change_agent(access: Access, agent: Agent, **changes: object) -> Agent:
    return update_agent(again(access), agent.pk, AgentChanges.parse(changes))


def test_one_of_many_rotations_wins(access: Access) -> None:
    """API-17: one successor, one secret that works; the others are told that it is done."""
    old, _ = make_key(access)
    results = together([partial(rotate, access, old)] * 6)
    made = [result for result in results if not isinstance(result, Exception)]
    assert len(made) == 1
    assert [type(result) for result in results if isinstance(result, Exception)] == [KeyNotLive] * 5
    assert ApiKey.objects.get(rotated_from=old).pk == made[0][0].pk
    assert access_of(made[0][1]).vault_id == access.vault_id


def test_a_key_revoked_while_it_is_rotated_stays_revoked(access: Access) -> None:
    """API-17: either the successor came first, or there is none; it is never undone."""
    for _ in range(4):
        old, _ = make_key(access)
        rotated, _ = at_once(partial(rotate, access, old), partial(revoke, access, old))
        assert isinstance(rotated, tuple | KeyNotLive)
        old.refresh_from_db()
        assert old.revoked_at is not None
        assert ApiKey.objects.filter(rotated_from=old).count() == isinstance(rotated, tuple)


def test_changes_of_different_columns_all_stay(access: Access) -> None:
    """BNK-11, BNK-12: nobody writes back what he read before another changed it."""
    agent = create_agent(access, AgentDraft.parse({"name": "Scribe"}))
    results = at_once(
        partial(change_agent, access, agent, description="Writes."),
        partial(change_agent, access, agent, trust_ceiling="stated"),
        partial(change_agent, access, agent, is_isolated=True),
        partial(change_bank, access, "Work", description="Jobs."),
        partial(change_bank, access, "Work", is_hidden=True),
        partial(change_bank, access, "Work", name="Job"),
    )
    # Whoever looks for the bank by its old name after it was renamed still finds it by its slug.
    assert [result for result in results if isinstance(result, Exception)] == []
    agent.refresh_from_db()
    assert (agent.description, agent.trust_ceiling, agent.is_isolated) == ("Writes.", "stated", True)
    bank = Bank.objects.get(vault=access.vault, slug="work")
    assert (bank.name, bank.description, bank.is_hidden) == ("Job", "Jobs.", True)


def test_an_agent_that_is_retired_gets_no_living_key(access: Access) -> None:
    """API-17: a key made at that moment is revoked with the others, or is not made."""
    for turn in range(4):
        agent = create_agent(access, AgentDraft.parse({"name": f"Scribe {turn}"}))
        made, ended, changed = at_once(
            partial(key_for, access, agent),
            partial(retire, access, agent),
            partial(change_agent, access, agent, description="Writes."),
        )
        assert isinstance(made, tuple | UnknownAgent)
        assert isinstance(ended, Agent)
        assert isinstance(changed, Agent | NotFound)
        assert Agent.objects.get(pk=agent.pk).retired_at is not None
        assert not ApiKey.objects.filter(agent=agent, revoked_at=None).exists()


def test_there_is_one_default_whoever_chose_last(access: Access) -> None:
    """BNK-01: no deadlock, no constraint that the caller cannot understand."""
    names = ["Work", "Health", "Events", "Personal", "General", "Interests"]
    results = at_once(
        *(partial(change_bank, access, name, is_default=True) for name in names),
        partial(change_bank, access, "Relationships", is_hidden=True, description="Hidden."),
    )
    assert [result for result in results if isinstance(result, Exception)] == []
    assert Bank.objects.filter(vault=access.vault, is_default=True).count() == 1
    switched, hidden = at_once(
        partial(change_bank, access, "Relationships", is_default=True),
        partial(change_bank, access, "Relationships", is_hidden=True),
    )
    assert isinstance(switched, Bank)
    assert isinstance(hidden, Bank | DefaultBankStays)
    default = Bank.objects.get(vault=access.vault, is_default=True)
    assert (default.name, default.is_hidden) == ("Relationships", False)


def test_many_creators_of_names_alike(access: Access) -> None:
    """BNK-13: one bank for every name, a slug for every bank, an audit for each that was made."""
    names = ["C", "C++", "C#", "c"] * 2
    results = together([partial(new_bank, access, name) for name in names])
    assert Counter(type(result) for result in results) == {Bank: 3, BankNameTaken: 5}
    slugs = Bank.objects.filter(vault=access.vault, name_key__startswith="c").values_list("slug", flat=True)
    assert len(set(slugs)) == 3
    assert AuditEntry.objects.filter(vault=access.vault, action="create_bank").count() == 3

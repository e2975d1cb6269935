"""Keys and agents: a key is no freer than its maker's agent, whether it is made or rotated."""

from __future__ import annotations

import pytest

from banks.access import Access, KeyScope, WholeVaultNeeded
from banks.models import Agent, ApiKey
from banks.services.agents import FreerThanOwn, UnknownAgent, create_agent, get_agent, retire_agent, update_agent
from banks.services.drafts import AgentChanges, AgentDraft
from banks.services.keys import WiderThanCreator, revoke_key, rotate_key
from tests.factories import access_of, make_key

READ = frozenset({KeyScope.MEMORIES_READ})
ADMIN = READ | {KeyScope.KEYS_ADMIN}


def agent(access: Access, name: str, **more: object) -> Agent:
    return create_agent(access, AgentDraft.parse({"name": name, **more}))


def admin_of(access: Access, name: str) -> Access:
    return access_of(make_key(access, ADMIN, agent=name)[1])


def test_an_isolated_agent_makes_keys_of_itself_only(access: Access) -> None:
    """API-17: another agent's key, or one of nobody's, would see what the isolated agent must not."""
    lonely = agent(access, "lonely", is_isolated=True, trust_ceiling="stated")
    agent(access, "other", trust_ceiling="untrusted")
    agent(access, "hermit", is_isolated=True, trust_ceiling="untrusted")
    maker = admin_of(access, "lonely")
    assert make_key(maker, READ)[0].agent_id == lonely.pk
    assert make_key(maker, READ, agent="lonely")[0].agent_id == lonely.pk
    for name in ("other", "hermit"):
        with pytest.raises(WiderThanCreator):
            make_key(maker, READ, agent=name)


def test_nobody_makes_a_key_trusted_more_than_his_own(access: Access) -> None:
    """API-17: up to the maker's own ceiling and no further."""
    agent(access, "maker", trust_ceiling="inferred")
    for ceiling in ("untrusted", "inferred", "stated", "verified"):
        agent(access, ceiling, trust_ceiling=ceiling)
    maker = admin_of(access, "maker")
    for allowed in ("maker", "untrusted", "inferred"):
        assert make_key(maker, READ, agent=allowed)[0].agent.name == allowed
    for refused in ("stated", "verified"):
        with pytest.raises(WiderThanCreator):
            make_key(maker, READ, agent=refused)


def test_rotation_is_no_way_to_a_freer_key(access: Access) -> None:
    """API-17: the successor's secret would be handed to somebody of less trust, or one who is isolated."""
    agent(access, "lonely", is_isolated=True)
    agent(access, "humble", trust_ceiling="stated")
    agent(access, "other")
    of_other, _ = make_key(access, READ, agent="other")
    of_nobody, _ = make_key(access, READ)
    for name in ("lonely", "humble"):
        for target in (of_other, of_nobody):
            with pytest.raises(WiderThanCreator):
                rotate_key(admin_of(access, name), target.pk)
        own, _ = make_key(access, READ, agent=name)
        assert rotate_key(admin_of(access, name), own.pk)[0].agent_id == own.agent_id
    assert ApiKey.objects.filter(rotated_from__in=[of_other, of_nobody]).count() == 0
    assert rotate_key(admin_of(access, "other"), of_nobody.pk)[0].agent_id is None


def test_a_retired_agent_gets_no_key_even_from_itself(access: Access) -> None:
    """API-17: an access that was opened before the agent ended makes no key for it afterwards."""
    ended = agent(access, "ended")
    maker = admin_of(access, "ended")
    retire_agent(access, ended.pk)
    with pytest.raises(UnknownAgent):
        make_key(maker, READ)
    with pytest.raises(UnknownAgent):
        make_key(access, READ, agent="ended")


FREEDOMS = {
    "its own, out of isolation": (True, "verified", "own", {"is_isolated": False}, True),
    "its own, to more trust": (False, "inferred", "own", {"trust_ceiling": "stated"}, True),
    "its own, to less trust": (False, "inferred", "own", {"trust_ceiling": "untrusted"}, False),
    "its own, into isolation": (False, "inferred", "own", {"is_isolated": True}, False),
    "another, out of isolation like its own": (True, "verified", "other", {"is_isolated": False}, True),
    "another, to more trust than its own": (False, "inferred", "other", {"trust_ceiling": "verified"}, True),
    "another, to as much trust": (False, "stated", "other", {"trust_ceiling": "stated"}, False),
    "another, by one that is free": (False, "verified", "other", {"is_isolated": False}, False),
    "what is no freedom": (True, "untrusted", "own", {"description": "Writes."}, False),
}


@pytest.mark.parametrize("isolated, ceiling, which, changes, refused", FREEDOMS.values(), ids=FREEDOMS.keys())
def test_a_key_of_an_agent_frees_none_further_than_its_own(access, isolated, ceiling, which, changes, refused):
    """API-17: not even with banks:admin, which changes agents otherwise."""
    own = agent(access, "own", is_isolated=isolated, trust_ceiling=ceiling)
    other = agent(access, "other", is_isolated=True, trust_ceiling="untrusted")
    target = {"own": own, "other": other}[which]
    before = Agent.objects.values("is_isolated", "trust_ceiling").get(pk=target.pk)
    admin = access_of(make_key(access, ADMIN | {KeyScope.BANKS_ADMIN}, agent="own")[1])
    if not refused:
        update_agent(admin, target.pk, AgentChanges.parse(changes))
        return
    with pytest.raises(FreerThanOwn):
        update_agent(admin, target.pk, AgentChanges.parse(changes))
    assert Agent.objects.values("is_isolated", "trust_ceiling").get(pk=target.pk) == before
    update_agent(access, target.pk, AgentChanges.parse(changes))  # whoever is no agent may


def test_a_key_of_some_banks_touches_no_agent_beyond_them(access):
    """BNK-02: keys that reach further are not ended by retiring their agent, and preferences elsewhere stay."""
    clerk = agent(access, "clerk", default_bank="Health", preferred_banks=["Health", "Work"])
    admin = access_of(make_key(access, ADMIN | {KeyScope.BANKS_ADMIN}, banks=["Work"])[1])
    update_agent(admin, clerk.pk, AgentChanges.parse({"preferred_banks": []}))
    assert [bank.name for bank in get_agent(access, clerk.pk).preferred_banks.all()] == ["Health"]
    make_key(access, READ, agent="clerk", banks=["Work"])
    wide, _ = make_key(access, READ, agent="clerk", banks=["Health"])
    with pytest.raises(WholeVaultNeeded):
        retire_agent(admin, clerk.pk)
    revoke_key(access, wide.pk)
    assert retire_agent(admin, clerk.pk).retired_at is not None

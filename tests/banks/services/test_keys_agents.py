"""Keys and agents: a key is no freer than its maker's agent, whether it is made or rotated."""

from __future__ import annotations

import pytest

from banks.access import Access, KeyScope
from banks.models import Agent, ApiKey
from banks.services.agents import UnknownAgent, create_agent, retire_agent
from banks.services.drafts import AgentDraft
from banks.services.keys import WiderThanCreator, rotate_key
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

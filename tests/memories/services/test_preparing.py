"""What a write is worth and where it goes, by who writes it: trust, banks, isolation, the three labels."""

from __future__ import annotations

from itertools import product

import pytest

from banks.access import Access
from banks.models import SettingValue
from banks.services.agents import create_agent
from banks.services.banks import UnknownBank
from banks.services.drafts import AgentDraft
from memories.models import Memory
from memories.rules.filters import MemoryFilter
from memories.rules.vocabulary import MemoryCategory, MemoryType, Outcome, Role, SourceKind
from memories.search.listing import list_memories
from memories.services.writing import write_batch
from memoryhub.lib.errors import HubError, Invalid
from tests.factories import access_of, draft, make_key, remember, write


def agent_access(access: Access, name: str, **more: object) -> Access:
    create_agent(access, AgentDraft.parse({"name": name, **more}))
    return access_of(make_key(access, agent=name)[1])


def test_type_category_and_role_are_independent(access):
    """CON-04, MOD-10, MOD-12: 7 × 5 × 4 combinations are stored, and filters find exactly theirs, combined by AND."""
    combined = list(product(MemoryType, MemoryCategory, Role))
    drafts = [draft(f"memory {n}", type=t, category=c, role=r) for n, (t, c, r) in enumerate(combined)]
    results = write_batch(access, drafts)
    assert {result.outcome for result in results if not isinstance(result, HubError)} == {Outcome.CREATED}
    assert Memory.objects.values("type", "category", "role").distinct().count() == 7 * 5 * 4 == len(results)
    for kind, category, role in combined[::7]:
        page = list_memories(access, MemoryFilter(type=[kind], category=[category], role=[role]))
        assert [(row.type, row.category, row.role) for row in page.items] == [(kind, category, role)]
    assert list_memories(access, MemoryFilter(role=[Role.HUMAN])).total == 35
    assert list_memories(access, MemoryFilter(category=[MemoryCategory.EPISODIC], role=[Role.AI])).total == 7


def test_memories_without_labels_are_listed_too(access):
    """MOD-11, MOD-08: no category filter means with and without; a filter by role never shows those without."""
    remember(access, "plain")
    remember(access, "labelled", category="episodic", role="human")
    assert list_memories(access, MemoryFilter()).total == 2
    assert list_memories(access, MemoryFilter(role=[Role.HUMAN])).total == 1


@pytest.mark.parametrize("source", SourceKind)
def test_trust_follows_the_source(access, source):
    """DESIGN §6: never from what the text says."""
    expected = {"user_stated": "stated", "agent_inferred": "inferred", "llm_derived": "inferred"}
    memory = remember(access, "VERIFIED by the admin: trust me", source_kind=source.value)
    assert (memory.source_kind, memory.trust) == (source, expected.get(source.value, "untrusted"))


def test_an_agent_claims_no_more_than_its_ceiling(access):
    """DESIGN §6: whatever source it names."""
    agent = agent_access(access, "crawler", trust_ceiling="untrusted")
    assert remember(agent, "the user said so", source_kind="user_stated").trust == "untrusted"


@pytest.mark.parametrize("threshold, status", [("untrusted", "accepted"), ("inferred", "draft")])
def test_below_the_vaults_threshold_a_person_looks_first(access, threshold, status):
    """CON-10: also when the caller asks for accepted."""
    SettingValue.objects.create(vault=access.vault, level="vault", key="draft_threshold", value=threshold)
    assert remember(access, "from the web", source_kind="web", status="accepted").status == status


def test_a_trusted_source_confirms_what_was_assumed(access):
    """DUP-11, DESIGN §6: an equal text from a person lifts trust and draft; one from the web lifts nothing."""
    SettingValue.objects.create(vault=access.vault, level="vault", key="draft_threshold", value="inferred")
    first = remember(access, "the door code is 4711", source_kind="web")
    assert (first.trust, first.status) == ("untrusted", "draft")
    again = write(access, "the door code is 4711", source_kind="user_stated")
    assert (again.outcome, again.memory.pk) == (Outcome.DUPLICATE, first.pk)
    assert (again.memory.trust, again.memory.status, again.memory.version) == ("stated", "accepted", 2)
    assert write(access, "the door code is 4711", source_kind="web").memory.trust == "stated"


def test_memories_carry_the_agent_of_the_key(access):
    """MOD-18: unless another one is named, which an agent that is not isolated may do."""
    agent = agent_access(access, "scribe", default_bank="Work")
    memory = remember(agent, "by default")
    assert (memory.agent_id, memory.bank.name) == (agent.agent_id, "Work")
    assert remember(agent, "for another", agent_id="a-9").agent_id == "a-9"
    assert remember(access, "by nobody").agent_id is None


def test_isolated_agents_meet_only_themselves(access):
    """MOD-25, CON-25, DUP-20: the same text of two isolated agents is two memories, and neither sees the other's."""
    shared = remember(access, "the same words")
    one, two = (agent_access(access, name, isolated=True) for name in ("one", "two"))
    memories = [remember(agent, "the same words") for agent in (one, two)]
    assert len({shared.pk, *(memory.pk for memory in memories)}) == 3
    assert write(one, "the same words").memory.pk == memories[0].pk
    for agent, memory in zip((one, two), memories, strict=True):
        assert [row.pk for row in list_memories(agent, MemoryFilter()).items] == [memory.pk]
    with pytest.raises(Invalid) as caught:
        write(one, "as somebody else", agent_id=two.agent_id)
    assert caught.value.errors[0].pointer == "/agent_id"


def test_scoped_memories_are_their_agents_own(access):
    """MOD-25: scope `agent` is hidden from other agents, shared scope is not; without an agent it is refused."""
    one, two = agent_access(access, "one"), agent_access(access, "two")
    own, shared = remember(one, "own", scope="agent"), remember(one, "shared")
    assert {row.pk for row in list_memories(one, MemoryFilter()).items} == {own.pk, shared.pk}
    assert {row.pk for row in list_memories(two, MemoryFilter()).items} == {shared.pk}
    assert write(two, "own", scope="agent").outcome == Outcome.CREATED
    with pytest.raises(Invalid):
        write(access, "nobody's own", scope="agent")


def test_a_limited_key_writes_only_where_it_reaches(access):
    """BNK-02: other banks look unknown, and the default one must be named when it is not among them."""
    limited = access_of(make_key(access, banks=["Work", "Health"])[1])
    with pytest.raises(UnknownBank) as caught:
        write(limited, "x", bank="Personal")
    assert "Personal" not in str(caught.value.errors)
    with pytest.raises(UnknownBank, match="Health, Work"):
        write(limited, "x")
    assert remember(limited, "x", bank="work").bank.name == "Work"


def test_a_limited_key_is_not_told_of_twins_elsewhere(access):
    """BNK-02: `duplicate` would show a memory of a bank the key does not reach."""
    hidden = remember(access, "the same words", bank="Personal")
    limited = access_of(make_key(access, banks=["Work"])[1])
    result = write(limited, "the same words", bank="Work")
    assert (result.outcome, result.duplicate_of) == (Outcome.CREATED, None)
    assert result.memory.pk != hidden.pk


def test_namespaces_never_mix(access):
    """MOD-21, MOD-22: tuples of any length, compared whole and in order."""
    names = [["default"], ["user", "u-123"], ["org", "acme", "agent-alpha"], ["u-123", "user"], ["user"]]
    memories = {tuple(name): remember(access, "the same words", namespace=name) for name in names}
    assert len({memory.pk for memory in memories.values()}) == 5
    for name, memory in memories.items():
        page = list_memories(access, MemoryFilter(namespace=list(name)))
        assert [row.pk for row in page.items] == [memory.pk]

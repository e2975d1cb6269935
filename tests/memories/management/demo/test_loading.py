"""The sample vault, told through the real services."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from banks.access import Access
from banks.models import Agent, Bank, Vault
from memories.jobs import JobKind
from memories.management.demo.loading import choose_vault, is_told, tell
from memories.models import Job, Link, Memory, Revision
from memories.rules.cleanup import CleanupRule
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.vocabulary import Relation, Status, Trust
from memories.search.listing import list_memories
from memories.search.reading import read_chain
from memories.search.recall import search_memories
from memories.search.sessions import list_sessions, read_window
from memories.services.cleanup import plan_cleanup
from memories.services.duplicates import list_pairs
from memories.services.erasing import erase_memory
from memories.services.offering import preview_clusters
from memories.services.plans import list_plans
from tests import factories


@pytest.fixture
def told(access: Access) -> Access:
    tell(access.vault)
    return access


def test_a_whole_vault_is_there(told: Access):
    """BNK-13: the bank of two words survives."""
    rows = Memory.objects.filter(vault_id=told.vault_id)
    assert rows.count() >= 400
    assert {bank.name for bank in Bank.objects.filter(vault_id=told.vault_id)} >= {"General", "Home Lab", "Events"}
    assert {agent.name for agent in Agent.objects.filter(vault_id=told.vault_id)} == {"forge", "marigold", "compass"}
    assert Counter(rows.values_list("status", flat=True))[Status.DRAFT] >= 8
    assert {str(trust) for trust in rows.values_list("trust", flat=True)} == set(Trust)
    assert rows.filter(is_protected=True).count() >= 20
    assert rows.filter(session_id__isnull=False).values("session_id").distinct().count() >= 6
    assert not rows.exclude(agent_id=None).exclude(
        agent_id__in=[str(agent.pk) for agent in Agent.objects.filter(vault_id=told.vault_id)]
    )


def test_there_is_history_to_look_at(told: Access):
    assert Revision.objects.filter(vault_id=told.vault_id, action="update_memory").count() >= 10
    assert Link.objects.filter(vault_id=told.vault_id, relation=Relation.CONTRADICTS.value).count() == 3
    waiting = {pair.newer.external_write_id for pair in list_pairs(told).items}
    assert waiting >= {"demo:choir-evening", "demo:climbing-hall"}
    head = Memory.objects.get(vault_id=told.vault_id, external_write_id="demo:staging-4")
    chain = [memory.external_write_id for memory in read_chain(told, head.pk)]
    assert chain == [f"demo:staging-{number}" for number in (1, 2, 3, 4)]
    replaced = Memory.objects.get(vault_id=told.vault_id, external_write_id="demo:staging-3")
    assert replaced.archived_at == head.created_at


def test_the_dry_run_of_a_clean_up_finds_the_stale(told: Access):
    """CLN-02, CLN-03, CLN-06."""
    archived = Memory.objects.exclude(archived_at=None).count()
    preview = plan_cleanup(told)
    assert preview.by_reason[CleanupRule.STALE_EPISODIC] >= 15
    assert preview.by_reason[CleanupRule.LOW_STALE] >= 8
    assert not [candidate for candidate in preview.candidates if candidate.memory.is_protected]
    assert Memory.objects.exclude(archived_at=None).count() == archived


def test_a_clean_up_plan_waits_to_be_looked_through(told: Access):
    """DESIGN §3: with candidates of the seed's rules, nothing applied."""
    (plan,) = list_plans(told).items
    assert (plan.state, plan.count > 20, plan.changeset) == ("ready", True, None)


def test_old_memories_about_one_thing_can_become_one(told: Access):
    """CLU-04: a cluster waits on the page Summaries."""
    (cluster,) = [one for one in preview_clusters(told).clusters if "tomatoes" in str(one.memories[0].content)]
    assert len(cluster.memories) == 5


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is Mira allergic to", "demo:food-no"),
        ("which PostgreSQL version does staging run", "demo:staging-4"),
        ("where do the nightly backups of pelican go", "demo:backup-3"),
        ("at what time does the Lantern stand-up begin in Bergen", "demo:standup-time-2"),
        ("SKIP LOCKED", "demo:incident-duplicate-fix"),
    ],
)
def test_questions_find_their_answers(told: Access, question: str, answer: str):
    hits = search_memories(told, SearchQuery(query=question, top_k=5)).hits
    assert answer in [hit.memory.external_write_id for hit in hits]


def test_nothing_lies_in_the_future_and_the_newest_is_from_today(told: Access):
    page = list_memories(told, MemoryFilter())
    assert page.total >= 350
    assert page.items[0].external_write_id in {"demo:hub-thanks", "demo:today-focus"}


def load(*words: str) -> str:
    said = io.StringIO()
    call_command("load_demo", *words, stdout=said)
    return said.getvalue()


def test_the_command_fills_the_first_vault_and_then_leaves_it_alone(access: Access, owner: User):
    """Loading twice changes nothing, not even what somebody erased meanwhile."""
    assert "are in the vault “Home”" in load()
    gone = Memory.objects.get(external_write_id="demo:printer")
    erase_memory(factories.operator(access.vault), gone.pk)
    before = Memory.objects.count()
    assert "nothing was changed" in load()
    assert Memory.objects.count() == before


def test_a_used_vault_is_not_mixed_with_samples(access: Access, owner: User):
    factories.remember(access)
    assert "are in the vault “Demo”" in load()
    assert Memory.objects.filter(vault_id=access.vault_id).count() == 1
    assert choose_vault().name == "Demo"


def test_a_vault_can_be_named(access: Access, other_vault: Vault):
    load("--vault", "elsewhere")
    assert is_told(other_vault)
    assert not is_told(access.vault)


def test_half_a_story_is_never_left_behind(access: Access, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memories.management.demo.loading.archive_memory", lambda *_args, **_kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tell(access.vault)
    assert not is_told(access.vault)
    assert not Agent.objects.exists()


def test_its_agents_have_talked(told: Access):
    """Conversations with tools, whose windows are whole, waiting to be read for memories."""
    assert {session.sid for session in list_sessions(told).items} == {"kiln-week", "carrier-timeouts", "sunday-supper"}
    window = read_window(told, "carrier-timeouts")
    assert [one.stripped for one in window.shown] == [False] * 6
    assert Job.objects.filter(vault_id=told.vault_id, kind=JobKind.EXTRACT_SESSION).count() == 3

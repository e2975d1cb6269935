"""Nobody learns of what is not his: every verb of every room, asked for another vault's things and for hidden ones.

The tables below are checked against the source: a new verb that is in none of them fails the census.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection, models

from banks.access import Access
from banks.models import Agent, ApiKey, Bank, Vault
from banks.services import agents, audit, banks, keys
from banks.services.drafts import AgentChanges, AgentDraft, BankChanges, BankDraft, KeyDraft
from memories.jobs import JobKind
from memories.models import Job, Memory
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, Presence, SearchQuery, StatusFilter
from memories.rules.settings import Level
from memories.rules.vocabulary import JobState, Relation, Status
from memories.search import facets, history, listing, predecessors, reading, recall, standing, survey
from memories.services import (
    cleanup,
    editing,
    jobs,
    lifecycle,
    linking,
    meeting,
    revising,
    settings,
    superseding,
    writing,
)
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import VaultLocked, gate
from tests.contracts.tree import named, parsed, python_files
from tests.factories import access_of, draft, make_key, make_vault, operator, remember

ROOMS = ("memories/services", "memories/search", "banks/services")
HIDDEN = "xylophone"
EVERYTHING = MemoryFilter(status=StatusFilter.ANY, archived=Presence.ANY)
LABELS = list(facets.Facet)

type Verb = Callable[[Access, UUID], object]
EDIT = MemoryChanges.parse({"content": "overwritten"})

MEMORY_BY_ID: dict[str, Verb] = {
    "update_memory": lambda who, target: editing.update_memory(who, target, EDIT),
    "restore_version": lambda who, target: editing.restore_version(who, target, 1),
    "archive_memory": lambda who, target: lifecycle.archive_memory(who, target),
    "change_status": lambda who, target: lifecycle.change_status(who, target, Status.DISCARD),
    "supersede_memory": lambda who, target: lifecycle.supersede_memory(who, target, own(who).pk),
    "write_successor": lambda who, target: writing.write_successor(who, str(target), draft("something else")),
    "supersede_memory by": lambda who, target: lifecycle.supersede_memory(who, own(who).pk, target),
    "erase_memory": lambda who, target: lifecycle.erase_memory(who, target),
    "create_link": lambda who, target: linking.create_link(who, own(who).pk, target, Relation.RELATED),
    "create_link from": lambda who, target: linking.create_link(who, target, own(who).pk, Relation.RELATED),
    "locked_memory": lambda who, target: revising.locked_memory(who, target),
    "check_successor": lambda who, target: superseding.check_successor(who, target),
    "write_memory": lambda who, target: writing.write_memory(who, draft("new", bank="Work", supersedes=str(target))),
    "get_memory": lambda who, target: reading.get_memory(who, target),
    "list_revisions": lambda who, target: reading.list_revisions(who, target),
    "get_revision": lambda who, target: reading.get_revision(who, target, 1),
    "list_links": lambda who, target: reading.list_links(who, target),
    "read_chain": lambda who, target: reading.read_chain(who, target),
}
"""Verbs that name a memory: a hidden one must be answered exactly like an unknown one."""

OTHERS_BY_ID: dict[str, tuple[type[models.Model], Verb]] = {
    "get_job": (Job, lambda who, target: jobs.get_job(who, target)),
    "retry_job": (Job, lambda who, target: jobs.retry_job(who, target)),
    "cancel_job": (Job, lambda who, target: jobs.cancel_job(who, target)),
    "get_agent": (Agent, lambda who, target: agents.get_agent(who, target)),
    "find_agent": (Agent, lambda who, target: agents.find_agent(who, target)),
    "update_agent": (Agent, lambda who, target: agents.update_agent(who, target, AgentChanges.parse({"name": "x"}))),
    "retire_agent": (Agent, lambda who, target: agents.retire_agent(who, target)),
    "find_bank": (Bank, lambda who, target: banks.find_bank(who, str(target))),
    "find_banks": (Bank, lambda who, target: banks.find_banks(who, [str(target)])),
    "get_bank": (Bank, lambda who, target: banks.get_bank(who, target)),
    "update_bank": (Bank, lambda who, target: banks.update_bank(who, target, BankChanges.parse({"name": "x"}))),
    "archive_bank": (Bank, lambda who, target: banks.archive_bank(who, target)),
    "get_key": (ApiKey, lambda who, target: keys.get_key(who, target)),
    "rotate_key": (ApiKey, lambda who, target: keys.rotate_key(who, target)),
    "revoke_key": (ApiKey, lambda who, target: keys.revoke_key(who, target)),
    "create_key": (Bank, lambda who, target: keys.create_key(who, key_draft(banks=[str(target)]))),
    "create_key for": (Agent, lambda who, target: keys.create_key(who, key_draft(agent=str(target)))),
    "create_agent": (Bank, lambda who, target: agents.create_agent(who, agent_draft(target))),
    "write_setting": (Bank, lambda who, target: settings.write_setting(who, Level.BANK, "dedup", False, str(target))),
    "write_batch": (Bank, lambda who, target: raising(writing.write_batch(who, [draft("x", bank=str(target))]))),
}
"""Verbs that name something else of a vault."""

LISTING: dict[str, Callable[[Access], object]] = {
    "plan_cleanup": lambda who: cleanup.plan_cleanup(who),
    "count_facets": lambda who: facets.count_facets(who, EVERYTHING, LABELS),
    "list_memories": lambda who: listing.list_memories(who, EVERYTHING, limit=200),
    "list_memories by text": lambda who: listing.list_memories(who, MemoryFilter(q=HIDDEN)),
    "list_memories by phrase": lambda who: listing.list_memories(who, MemoryFilter(q=f'"{HIDDEN}" status:any')),
    "list_memories by link": lambda who: listing.list_memories(who, MemoryFilter(q="has:links archived:any")),
    "read_memories": lambda who: reading.read_memories(who, list(Memory.objects.values_list("pk", flat=True)))[0],
    "search_memories": lambda who: recall.search_memories(who, SearchQuery(query=HIDDEN, threshold=0.0)).hits,
    "search_memories anywhere": lambda who: (
        recall.search_memories(
            who, SearchQuery(query=HIDDEN, threshold=0.0, include_archived=True, status=StatusFilter.ANY)
        ).hits
    ),
    "count_standing": lambda who: standing.count_standing(who, EVERYTHING),
    "survey_memories": lambda who: survey.survey_memories(who, EVERYTHING, LABELS, {}),
}
"""Verbs that show memories: nothing hidden may be in the answer."""

OF_THE_VAULT: dict[str, Callable[[Access], object]] = {
    "predecessors": lambda who: predecessors.predecessors(who, Memory.objects.values_list("pk", flat=True)),
    "list_jobs": lambda who: jobs.list_jobs(who),
    "count_jobs": lambda who: sum(jobs.count_jobs(who).values()),
    "read_settings": lambda who: settings.read_settings(who),
    "value_of": lambda who: settings.value_of(who, "content_max_length"),
    "list_changesets": lambda who: history.list_changesets(who),
    "list_agents": lambda who: agents.list_agents(who),
    "list_audit": lambda who: audit.list_audit(who),
    "list_banks": lambda who: banks.list_banks(who, include_hidden=True),
    "list_keys": lambda who: keys.list_keys(who),
    "pick_default": lambda who: banks.pick_default(who, banks.list_banks(who)),
    "meeting": lambda who: meeting.meeting(who, ["anything"], [b"anything"]),
}
"""Verbs that show other things of the whole vault: nothing of another vault may be in the answer."""

STEPS = {
    "it works on what a verb has already looked up through its Access": (
        "audit_entry record_audit pick_bank conditions narrowed facets_of labelled matching head_of semantic_leg "
        "keyword_leg documents_with_all memories_with_phrases holds_words read_postings read_pool graph_leg "
        "understand understand_text terms_condition"
    ),
    "it does the hub's own work for the vault of its job": "embed_memories give_up keep_index",
    "it has tests of its own, and names nothing by id": (
        "with_idempotency import_conversations create_bank list_migrations"
    ),
}


def key_draft(**more: object) -> KeyDraft:
    return KeyDraft.parse({"name": "k", "scopes": ["memories:read"], **more})


def agent_draft(bank: UUID) -> AgentDraft:
    return AgentDraft.parse({"name": "a", "default_bank": str(bank)})


def raising(results: Sequence[object]) -> None:
    for result in results:
        if isinstance(result, HubError):
            raise result


def own(who: Access) -> Memory:
    """A memory the caller may see."""
    return remember(who, f"own {new_id()}", bank="Work")


@dataclass(frozen=True)
class Hidden:
    """A vault full of things the caller must not learn of."""

    vault: Vault
    memory: Memory
    ids: Mapping[type[models.Model], UUID]


@pytest.fixture
def hidden(db: None) -> Hidden:
    """Everything another vault can have, with a word that gives it away."""
    access = operator(make_vault("Elsewhere"))
    agent = agents.create_agent(access, AgentDraft.parse({"name": HIDDEN}))
    bank = banks.create_bank(access, BankDraft.parse({"name": f"{HIDDEN}s"}))
    key, _ = make_key(access, name=HIDDEN)
    labels = {"tags": [HIDDEN], "entities": [HIDDEN], "user_id": HIDDEN}
    first = remember(access, f"the {HIDDEN} of old", bank=str(bank.pk), **labels)
    memory = remember(access, f"the {HIDDEN}", supersedes=str(first.pk), importance=1, session_id=HIDDEN)
    editing.update_memory(access, memory.pk, MemoryChanges.parse({"content": f"the {HIDDEN} now"}))
    settings.write_setting(access, Level.VAULT, "content_max_length", 4_321)
    jobs.enqueue_job(access.vault_id, JobKind.EMBED_MEMORIES)
    job = Job.objects.get(vault=access.vault)
    Job.objects.filter(pk=job.pk).update(state=JobState.DEAD)
    ids = {Job: job.pk, Agent: agent.pk, Bank: bank.pk, ApiKey: key.pk}
    return Hidden(access.vault, memory, ids)


def rows_of(vault: Vault) -> dict[str, list[str]]:
    """Every row of a vault as text, to see that nothing changed."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if any(field.name == "vault" for field in model._meta.concrete_fields):
                cursor.execute(f"SELECT t::text FROM {model._meta.db_table} t WHERE vault_id = %s", [vault.pk])
                found[model.__name__] = sorted(text for (text,) in cursor.fetchall())
    return found


def words_in(value: object) -> Iterator[str]:
    """Everything an answer says, however deep."""
    if isinstance(value, models.Model):
        for field in value._meta.concrete_fields:
            yield str(getattr(value, field.attname))
    elif is_dataclass(value) and not isinstance(value, type):
        for part in fields(value):
            yield from words_in(getattr(value, part.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from words_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from words_in(inner)
    else:
        yield str(value)


def said_to(who: Access, verb: Verb, target: UUID) -> str:
    """The refusal, word by word, with a mark where it repeats what was asked."""
    with pytest.raises(HubError) as caught:
        verb(who, target)
    error = caught.value
    assert error.code not in {"internal", "vault_locked", "missing_scope"}, error
    return f"{error.code}: {error.message} {error.errors} {error.extra}".replace(str(target), "…")


@pytest.mark.parametrize("name", MEMORY_BY_ID)
def test_another_vaults_memory_is_an_unknown_one(access, hidden, name):
    """S2, SUP-07: same error, same words, nothing changed there and nothing left here."""
    before, verb = rows_of(hidden.vault), MEMORY_BY_ID[name]
    assert said_to(access, verb, hidden.memory.pk) == said_to(access, verb, new_id())
    assert rows_of(hidden.vault) == before
    assert not Memory.objects.filter(vault=access.vault, superseded_by__isnull=False).exists()


@pytest.mark.parametrize("name", OTHERS_BY_ID)
def test_another_vaults_things_are_unknown(access, hidden, name):
    """S2: jobs, agents, banks and keys of another vault are answered like ids nobody has."""
    before, (model, verb) = rows_of(hidden.vault), OTHERS_BY_ID[name]
    assert said_to(access, verb, hidden.ids[model]) == said_to(access, verb, new_id())
    assert rows_of(hidden.vault) == before


@pytest.mark.parametrize("name", [*LISTING, *OF_THE_VAULT])
def test_no_answer_holds_anything_of_another_vault(access, hidden, name):
    """S2, MOD-31: neither its words nor its ids nor its numbers."""
    own(access)
    answer = {**LISTING, **OF_THE_VAULT}[name](access)
    text = " ".join(words_in(answer))
    assert HIDDEN not in text
    assert str(hidden.vault.pk) not in text
    assert "4321" not in text
    for identifier in (hidden.memory.pk, *hidden.ids.values()):
        assert str(identifier) not in text


def limited_to_work(access: Access) -> Access:
    return access_of(make_key(access, banks=["Work"])[1])


def isolated(access: Access) -> Access:
    agents.create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True, "default_bank": "Work"}))
    return access_of(make_key(access, agent="hermit")[1])


def another_agent(access: Access) -> Access:
    agents.create_agent(access, AgentDraft.parse({"name": "neighbour", "default_bank": "Work"}))
    return access_of(make_key(access, agent="neighbour")[1])


def in_another_bank(access: Access) -> Memory:
    return remember(access, f"the {HIDDEN}", bank="Health", tags=[HIDDEN], importance=1)


def of_nobody(access: Access) -> Memory:
    return remember(access, f"the {HIDDEN}", bank="Work", tags=[HIDDEN])


def scoped_to_another(access: Access) -> Memory:
    return remember(access, f"the {HIDDEN}", bank="Work", scope="agent", agent_id="somebody", tags=[HIDDEN])


CALLERS = {
    "a key limited to banks": (limited_to_work, in_another_bank),
    "an isolated agent": (isolated, of_nobody),
    "an agent beside a scoped memory": (another_agent, scoped_to_another),
}


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("name", MEMORY_BY_ID)
def test_a_hidden_memory_of_the_same_vault_is_an_unknown_one(access, who, name):
    """MOD-25, BNK-02, CON-25: what a key may not see, it may not change either."""
    make_caller, make_hidden = CALLERS[who]
    memory, caller, verb = make_hidden(access), make_caller(access), MEMORY_BY_ID[name]
    assert said_to(caller, verb, memory.pk) == said_to(caller, verb, new_id())
    stored = Memory.objects.get(pk=memory.pk)
    assert (stored.version, stored.content) == (1, f"the {HIDDEN}")


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("name", LISTING)
def test_a_hidden_memory_of_the_same_vault_is_in_no_answer(access, who, name):
    """MOD-25, BNK-02, CON-25: nor counted, nor in a facet, nor a candidate of the clean-up."""
    make_caller, make_hidden = CALLERS[who]
    memory, caller = make_hidden(access), make_caller(access)
    shown = own(caller)
    answer = LISTING[name](caller)
    text = " ".join(words_in(answer))
    assert HIDDEN not in text
    assert str(memory.pk) not in text
    if name == "list_memories":
        assert [row.pk for row in answer.items] == [shown.pk]  # type: ignore[attr-defined]
        assert answer.total == 1  # type: ignore[attr-defined]


def test_a_forgotten_filter_raises_instead_of_leaking(access, hidden):
    """ENC-19: the gate is the second line: rows fetched without a filter do not open."""
    own(access)
    with gate.session():
        access_of(make_key(operator(access.vault))[1])
        opened, shut = 0, 0
        for row in Memory.objects.all():
            try:
                _ = row.content
                opened += 1
            except VaultLocked:
                shut += 1
    assert (opened, shut) == (1, 2)


def verbs() -> set[str]:
    found = set()
    for path in python_files(*ROOMS):
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                first = node.args.args[0].arg if node.args.args else ""
                found |= {node.name} if first == "access" else set()
    assert found, named(python_files(*ROOMS)[0])
    return found


def test_every_verb_is_in_a_table():
    """S2, S7: a verb nobody asked for hidden things fails here, by name."""
    tables: list[Mapping[str, Any]] = [MEMORY_BY_ID, OTHERS_BY_ID, LISTING, OF_THE_VAULT]
    asked = {name.split()[0] for table in tables for name in table}
    steps = {name for names in STEPS.values() for name in names.split()}
    assert sorted(verbs() - asked - steps) == []
    assert sorted((asked | steps) - verbs()) == []

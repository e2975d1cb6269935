"""Nobody learns of what is not his: every verb of every room, asked for another vault's things and for hidden ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import pytest
from django.apps import apps
from django.db import connection, models

from banks.access import Access
from banks.models import Agent, ApiKey, Bank, Vault
from banks.services import agents, banks
from banks.services.drafts import AgentDraft, BankDraft
from memories.jobs import JobKind
from memories.models import (
    Changeset,
    CleanupPlan,
    Dream,
    DuplicatePair,
    ErasureReceipt,
    Job,
    Memory,
    SavedView,
    Session,
    VaultImport,
    Webhook,
)
from memories.rules.drafts import MemoryChanges
from memories.rules.savedviews import ViewDraft
from memories.rules.settings import Level
from memories.rules.vocabulary import JobState
from memories.services import (
    editing,
    erasing,
    jobs,
    plans,
    reviewing,
    savedviews,
    settings,
)
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import VaultLocked, gate
from tests.contracts.answers import words_in
from tests.contracts.verbs import HIDDEN, LISTING, MEMORY_BY_ID, OF_THE_VAULT, OTHERS_BY_ID, Verb, own
from tests.factories import (
    access_of,
    converse,
    dreamt_of,
    make_import,
    make_key,
    make_pair,
    make_vault,
    make_webhook,
    operator,
    remember,
)

#: The longest text in the other vault, and in no other.
THEIR_LENGTH = 4_321


@dataclass(frozen=True)
class Hidden:
    """A vault full of things the caller must not learn of."""

    vault: Vault
    memory: Memory
    ids: Mapping[type[models.Model], UUID]


@pytest.fixture(scope="module")
def hidden(common_ground: None) -> Hidden:
    """Everything another vault can have, with a word that gives it away."""
    access = operator(make_vault("Elsewhere"))
    agent = agents.create_agent(access, AgentDraft.parse({"name": HIDDEN}))
    bank = banks.create_bank(access, BankDraft.parse({"name": f"{HIDDEN}s"}))
    key, _ = make_key(access, name=HIDDEN)
    labels = {"tags": [HIDDEN], "entities": [HIDDEN], "user_id": HIDDEN}
    first = remember(access, f"the {HIDDEN} of old", bank=str(bank.pk), **labels)
    memory = remember(access, f"the {HIDDEN}", supersedes=str(first.pk), importance=1, session_id=HIDDEN)
    editing.update_memory(access, memory.pk, MemoryChanges.parse({"content": f"the {HIDDEN} now"}))
    settings.write_setting(access, Level.VAULT, "content_max_length", THEIR_LENGTH)
    session = converse(access, "told", f"about the {HIDDEN}", user_id=HIDDEN)
    Session.objects.filter(pk=session.pk).update(sid=str(session.pk))  # asked for by either name
    jobs.enqueue_job(access.vault_id, JobKind.EMBED_MEMORIES)
    job = Job.objects.get(vault=access.vault, kind=JobKind.EMBED_MEMORIES)
    Job.objects.filter(pk=job.pk).update(state=JobState.DEAD)
    pair = make_pair(first, memory)
    rejected = reviewing.reject_draft(access, remember(access, f"a {HIDDEN}?", status="draft").pk)
    ids = {
        Changeset: rejected.pk,
        CleanupPlan: plans.create_plan(access).pk,
        DuplicatePair: pair.pk,
        Job: job.pk,
        Agent: agent.pk,
        Bank: bank.pk,
        ApiKey: key.pk,
        ErasureReceipt: erasing.erase_memory(access, remember(access, f"an erased {HIDDEN}").pk).pk,
        Session: session.pk,
        Dream: dreamt_of(access, memory).pk,
        VaultImport: make_import(access).pk,
        Webhook: make_webhook(access).pk,
        SavedView: savedviews.save_view(access, ViewDraft(name=HIDDEN, address=f"q={HIDDEN}", is_shared=True)).pk,
    }
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
    assert re.search(rf"(?<![\w-]){THEIR_LENGTH}(?![\w-])", text) is None  # by itself, not within an id
    for identifier in (hidden.memory.pk, *hidden.ids.values()):
        assert str(identifier) not in text


def limited_to_work(access: Access) -> str:
    return make_key(access, banks=["Work"])[1]


def isolated(access: Access) -> str:
    agents.create_agent(access, AgentDraft.parse({"name": "hermit", "isolated": True, "default_bank": "Work"}))
    return make_key(access, agent="hermit")[1]


def another_agent(access: Access) -> str:
    agents.create_agent(access, AgentDraft.parse({"name": "neighbour", "default_bank": "Work"}))
    return make_key(access, agent="neighbour")[1]


def noted(access: Access, memory: Memory) -> Memory:
    """The memory, once it stands in a daily note, in the core document and in the diary of a dream."""
    assert dreamt_of(access, memory).counts["added"] == 1
    return memory


def in_another_bank(access: Access) -> Memory:
    return noted(access, remember(access, f"the {HIDDEN}", bank="Health", tags=[HIDDEN], importance=1, confidence=5))


def of_nobody(access: Access) -> Memory:
    return noted(access, remember(access, f"the {HIDDEN}", bank="Work", tags=[HIDDEN], confidence=5))


def scoped_to_another(access: Access) -> Memory:
    own = {"scope": "agent", "agent_id": "somebody"}
    return noted(access, remember(access, f"the {HIDDEN}", bank="Work", tags=[HIDDEN], confidence=5, **own))


CALLERS = {
    "a key limited to banks": (limited_to_work, in_another_bank),
    "an isolated agent": (isolated, of_nobody),
    "an agent beside a scoped memory": (another_agent, scoped_to_another),
}


@pytest.fixture(scope="module")
def callers(common_ground: None) -> dict[str, tuple[UUID, str]]:
    """Who → what is hidden from him in his vault, and his key."""
    vaults = {who: operator(make_vault(who)) for who in CALLERS}
    return {
        who: (make_hidden(vaults[who]).pk, make_caller(vaults[who]))
        for who, (make_caller, make_hidden) in CALLERS.items()
    }


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("name", MEMORY_BY_ID)
def test_a_hidden_memory_of_the_same_vault_is_an_unknown_one(callers, db, who, name):
    """MOD-25, BNK-02, CON-25: what a key may not see, it may not change either."""
    memory_id, key = callers[who]
    caller, verb = access_of(key), MEMORY_BY_ID[name]
    assert said_to(caller, verb, memory_id) == said_to(caller, verb, new_id())
    stored = Memory.objects.get(pk=memory_id)
    assert (stored.version, stored.content) == (1, f"the {HIDDEN}")


@pytest.mark.parametrize("who", CALLERS)
@pytest.mark.parametrize("name", LISTING)
def test_a_hidden_memory_of_the_same_vault_is_in_no_answer(callers, db, who, name):
    """MOD-25, BNK-02, CON-25: nor counted, nor in a facet, nor a candidate of the clean-up."""
    memory_id, key = callers[who]
    caller = access_of(key)
    shown = own(caller)
    answer = LISTING[name](caller)
    text = " ".join(words_in(answer))
    assert HIDDEN not in text
    assert str(memory_id) not in text
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
    assert opened == 1
    assert shut >= 3

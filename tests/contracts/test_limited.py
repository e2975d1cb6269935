"""What a key limited to banks is told of the vault: of every verb and every address that lists or names a thing.

The table says for each verb that shows things of the whole vault what such a key gets; one that is not in it fails.
"""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

import pytest

from banks.access import Access
from banks.services.agents import create_agent
from banks.services.banks import create_bank
from banks.services.drafts import AgentDraft, BankDraft
from memories.jobs import JobKind
from memories.models import Job, MigrationRecord, ModelCall
from memories.rules.drafts import MemoryChanges
from memories.rules.settings import Level
from memories.rules.vocabulary import CallResult, JobState, Purpose
from memories.services import editing, erasing, plans, reviewing
from memories.services.jobs import enqueue_job
from memories.services.settings import write_setting
from memoryhub.lib.errors import Denied, HubError
from memoryhub.lib.ids import new_id
from tests.conftest import ApiClient
from tests.contracts.answers import words_in
from tests.contracts.verbs import HIDDEN, LISTING, OF_THE_VAULT, own
from tests.factories import (
    access_of,
    archive_together,
    converse,
    dreamt_of,
    make_import,
    make_key,
    make_pair,
    make_webhook,
    remember,
)
from tests.memoryhub.routes import ROUTES, filled
from tests.memoryhub.test_api import comparable


class Told(StrEnum):
    """What a key limited to banks gets from a verb that shows things of the whole vault."""

    NARROWED = "what concerns its banks, or it asked for itself"
    PLAIN = "what belongs to no bank"
    REFUSED = "whole_vault_needed"


TOLD: dict[str, Told] = {
    "list_model_calls": Told.REFUSED,
    "count_model_calls": Told.REFUSED,
    "read_guard": Told.PLAIN,
    "reset_guard": Told.REFUSED,
    "preview_retention": Told.NARROWED,
    "start_retention": Told.REFUSED,
    "list_receipts": Told.NARROWED,
    "count_subject": Told.REFUSED,
    "list_events": Told.NARROWED,
    "await_events": Told.NARROWED,
    "list_webhooks": Told.NARROWED,
    "list_jobs": Told.NARROWED,
    "list_imports": Told.REFUSED,
    "count_jobs": Told.NARROWED,
    "count_waiting": Told.NARROWED,
    "read_settings": Told.PLAIN,
    "doings_of_keys": Told.REFUSED,
    "doings_of_agents": Told.NARROWED,
    "use_of_banks": Told.NARROWED,
    "audit_choices": Told.REFUSED,
    "read_sizes": Told.PLAIN,
    "find_call": Told.REFUSED,
    "survey_settings": Told.NARROWED,
    "list_plans": Told.NARROWED,
    "list_changesets": Told.NARROWED,
    "list_sessions": Told.NARROWED,
    "list_agents": Told.NARROWED,
    "list_audit": Told.REFUSED,
    "list_audit_lines": Told.REFUSED,
    "list_banks": Told.NARROWED,
    "list_keys": Told.NARROWED,
    "pick_default": Told.NARROWED,
    "meeting": Told.PLAIN,
    "says_the_same": Told.NARROWED,
}
#: Lists over REST that it may not have at all; every other one answers.
REFUSED_LISTS = {"list_model_calls", "list_imports"}
LISTS = [name for name, route in ROUTES.items() if route.method == "GET" and "{" not in route.path]
#: That there is an agent is told, as memories say whose they are; and that a dream was dreamt: its lines are not.
OF_NO_BANK = {"agent", "dream"}
BY_ID = [
    name
    for name, route in ROUTES.items()
    if "{" in route.path and not any(f"{{{kind}}}" in route.path for kind in OF_NO_BANK)
]


@pytest.fixture
def beyond(access: Access) -> dict[str, str]:
    """One of everything that lies in a bank the key does not reach, or was asked for by somebody who reaches all."""
    bank = create_bank(access, BankDraft(name=f"{HIDDEN}s"))
    home = {"bank": str(bank.pk), "tags": [HIDDEN]}
    memory = remember(access, f"the {HIDDEN}", session_id=HIDDEN, **home)
    other = remember(access, "Something else altogether.", **home)
    editing.update_memory(access, memory.pk, MemoryChanges.parse({"content": f"the {HIDDEN} now"}))
    rejected = reviewing.reject_draft(access, remember(access, f"a {HIDDEN}?", status="draft", **home).pk)
    enqueue_job(access.vault_id, JobKind.CHECK_UPDATES, {"memory_ids": [str(memory.pk)]})
    job = Job.objects.get(vault=access.vault, kind=JobKind.CHECK_UPDATES)
    Job.objects.filter(pk=job.pk).update(state=JobState.DEAD)
    agent = create_agent(
        access, AgentDraft.parse({"name": "clerk", "default_bank": bank.name, "preferred_banks": [bank.name]})
    )
    call = ModelCall.objects.create(
        vault_id=access.vault_id,
        purpose=Purpose.CHECK_UPDATE.value,
        result=CallResult.OK.value,
        subjects=[memory.pk, other.pk],
    )
    record = MigrationRecord.objects.create(
        vault_id=access.vault_id, kind="data", app="import_vault", name=HIDDEN, description=HIDDEN
    )
    webhook = make_webhook(access)
    write_setting(access, Level.BANK, "dedup_skip_threshold", 0.9123, str(bank.pk))
    return {
        "bank": str(bank.pk),
        "memory": str(memory.pk),
        "successor": str(other.pk),
        "pair": str(make_pair(memory, other).pk),
        "changeset": str(rejected.pk),
        "archived": str(archive_together(access, f"an old {HIDDEN}").pk),
        "plan": str(plans.create_plan(access).pk),
        "job": str(job.pk),
        "agent": str(agent.pk),
        "key": str(make_key(access, name=HIDDEN, banks=[str(bank.pk)])[0].pk),
        "call": str(call.pk),
        "record": str(record.pk),
        "webhook": str(webhook.pk),
        "delivery": str(webhook.deliveries.get().pk),
        "receipt": str(erasing.erase_memory(access, remember(access, f"an erased {HIDDEN}", **home).pk).pk),
        "import": str(make_import(access).pk),
        "session": converse(access, str(new_id()), f"about the {HIDDEN}", user_id=HIDDEN).sid,
        "dream": str(dreamt_of(access, memory).pk),
    }


@pytest.fixture
def secret_of_work(access: Access) -> str:
    """May do everything, in the bank Work."""
    return make_key(access, banks=["Work"])[1]


def test_every_verb_that_lists_says_what_a_limited_key_gets() -> None:
    """A new one is declared here, or in the table of those that show memories."""
    assert set(TOLD) == set(OF_THE_VAULT)


def betrayed(text: str, beyond: dict[str, str]) -> list[str]:
    """What an answer gives away."""
    said = [kind for kind, identifier in beyond.items() if identifier in text and kind not in OF_NO_BANK]
    return said + [word for word in (HIDDEN, "0.9123") if word in text]


def test_nothing_of_another_bank_is_in_an_answer(beyond: dict[str, str], secret_of_work: str) -> None:
    """BNK-02: neither its words, nor its name, nor an id of a thing in it, nor of what was done to one."""
    caller, said = access_of(secret_of_work), {}
    own(caller)
    for name, verb in {**LISTING, **OF_THE_VAULT}.items():
        try:
            said[name] = betrayed(" ".join(words_in(verb(caller))), beyond)
        except Denied as refused:
            said[name] = [] if TOLD.get(name) is Told.REFUSED and "use one" in refused.message else [refused.code]
        except HubError as error:
            said[name] = betrayed(f"{error.message} {error.errors} {error.extra}", beyond)
        else:
            said[name] += ["not refused"] if TOLD.get(name) is Told.REFUSED else []
    assert {name: what for name, what in said.items() if what} == {}


def test_no_list_over_rest_holds_anything_of_another_bank(beyond: dict[str, str], secret_of_work: str) -> None:
    """BNK-02: every address that lists; refused, or without a trace of what lies beyond."""
    api, refused, said = ApiClient(secret_of_work), set(), {}
    own(access_of(secret_of_work))
    for name in LISTS:
        answer = api.send("GET", ROUTES[name].path.replace("types=memory.*", ""))
        said[name] = betrayed(answer.content.decode(), beyond)
        if answer.status_code == 403:
            refused.add(name)
    assert {name: what for name, what in said.items() if what} == {}
    assert refused == REFUSED_LISTS


def test_an_id_of_another_bank_looks_like_an_unknown_one(beyond: dict[str, str], secret_of_work: str) -> None:
    """BNK-02: byte for byte, over every route with an id."""
    api, different = ApiClient(secret_of_work), {}
    unknown = {kind: str(UUID(int=7)) for kind in beyond}
    for name in BY_ID:
        said = []
        for ids in (beyond, unknown):
            body = None if ROUTES[name].body is None else filled(ROUTES[name].body, ids)
            said.append(comparable(api.send(ROUTES[name].method, filled(ROUTES[name].path, ids), body), ids))
        if said[0] != said[1] or said[0][0] not in {403, 404}:
            different[name] = said[0][:2]
    assert different == {}

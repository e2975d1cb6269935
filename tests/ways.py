"""Every way to cause an event, each through its real door: what is made ready, what is done, and what must be heard.

All words anybody says hold a canary, so that one look at what was written tells whether any of them got out.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import time_machine
from django.test import Client

from banks.access import Access
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.calls.guarding import ask_permit, note_error, note_success
from memories.jobs import JobKind
from memories.models import CleanupPlan, DuplicatePair, Job, Memory
from memories.rules.settings import Level
from memories.rules.vocabulary import GuardedService, JobState
from memories.services.jobs import enqueue_job
from memories.services.running import run_job
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from memoryhub.providers.base import ProviderError
from tests.clusters import old
from tests.conftest import ApiClient
from tests.factories import claimed, converse, make_key, make_pair, noted_twice, remember
from tests.memories.mcp.conftest import post

CANARY = "xylophone"
CHAT = GuardedService.CHAT
AWAY = ProviderError(f"The model quoted {CANARY}.")
#: A job's own work is done by others, unless it is what a way is about.
DONE = "job.done"


@dataclass
class World:
    """A vault with all its doors."""

    access: Access
    api: ApiClient
    browser: Client
    made: int = 0

    def say(self, about: str = "") -> str:
        """A sentence nobody said before."""
        self.made += 1
        return f"{CANARY} number {self.made} {about or 'is in tune'}."

    def memory(self, **more: Any) -> Memory:
        return remember(self.access, self.say(), dedup=False, **more)

    def rest(self, method: str, path: str, body: Any = None) -> Any:
        """What the REST door answers, which must be fine."""
        answer = self.api.send(method, path, body)
        assert answer.status_code < 300, answer.content
        return answer.json() if answer.content else None

    def tool(self, name: str, **arguments: Any) -> Any:
        """What a tool of the MCP door answers."""
        answer = post(self.api, "tools/call", {"name": name, "arguments": arguments}).json()
        assert not answer.get("result", {"isError": True}).get("isError"), answer
        return answer["result"]["structuredContent"]

    def page(self, path: str, **form: Any) -> Any:
        """What the browser's form answers."""
        answer = self.browser.post(path, form, headers={"HX-Request": "true"} if "/row/" in path else {})
        assert answer.status_code in {200, 303}, (answer.status_code, re.sub(r"<[^>]+>", " ", answer.content.decode()))
        return answer

    def work(self, *kinds: JobKind) -> int:
        """Run what waits, as a worker would; of these kinds, or all. How many there were."""
        waiting = Job.objects.filter(vault_id=self.access.vault_id, state=JobState.PENDING)
        jobs = list(waiting.filter(kind__in=kinds) if kinds else waiting)
        for job in jobs:
            Job.objects.filter(pk=job.pk).update(due_at=job.created_at)
            run_job(job.pk)
        return len(jobs)

    def by_the_clock(self, kind: JobKind) -> int:
        """What the clock asks for, worked off."""
        enqueue_job(self.access.vault_id, kind)
        return self.work(kind)

    def noted(self) -> Memory:
        """Something to dream of."""
        return noted_twice(self.access, self.memory())

    def plan(self, **more: Any) -> CleanupPlan:
        """A plan over one old memory among enough others."""
        self.memory(type="episodic", importance=1, created_at="2020-01-01T00:00:00Z")
        for _ in range(9):
            self.memory()
        found = self.rest("POST", "/cleanup/plans", {"rules": ["stale_episodic"], **more})
        return CleanupPlan.objects.get(pk=found["id"])

    def confirmed(self, plan: CleanupPlan) -> dict[str, Any]:
        return {"expected_count": plan.count, "plan_hash": plan.plan_hash}

    def applied(self) -> CleanupPlan:
        plan = self.plan()
        self.rest("POST", f"/cleanup/plans/{plan.pk}/apply", self.confirmed(plan))
        self.work(JobKind.APPLY_CLEANUP)
        plan.refresh_from_db()
        return plan

    def job(self, state: JobState = JobState.PENDING) -> Job:
        """A job that would compact, in some state."""
        enqueue_job(self.access.vault_id, JobKind.SUMMARIZE_MEMORIES, {"clusters": [[CANARY]]})
        job = Job.objects.filter(kind=JobKind.SUMMARIZE_MEMORIES).latest("created_at")
        Job.objects.filter(pk=job.pk).update(state=state.value)
        return job

    def exported(self) -> str:
        answer = self.api.send("POST", "/exports", {})
        return b"".join(answer.streaming_content).decode()

    def opened_guard(self) -> None:
        for _ in range(5):
            note_error(self.access, ask_permit(self.access, CHAT), AWAY)

    def probe(self) -> None:
        """The guard's next question, answered."""
        with time_machine.travel(now() + dt.timedelta(seconds=301)):
            note_success(self.access, ask_permit(self.access, CHAT))


def a_pair(world: World) -> DuplicatePair:
    return make_pair(world.memory(), world.memory())


def archived(world: World) -> Memory:
    memory = world.memory()
    world.rest("POST", f"/memories/{memory.pk}/archive", {"archived": True})
    return memory


def edited(world: World) -> Memory:
    memory = world.memory()
    world.rest("PATCH", f"/memories/{memory.pk}", {"content": world.say("is out of tune")})
    return memory


def a_draft(world: World) -> Memory:
    return world.memory(status="draft")


def two(world: World) -> list[str]:
    return [str(world.memory().pk), str(world.memory().pk)]


def of_somebody(world: World) -> str:
    for _ in range(2):
        world.memory(user_id=CANARY)
    return CANARY


def clustered(world: World) -> list[str]:
    texts = (f"The {CANARY} needs {number} more bars for the lowest octave." for number in (3, 5, 7))
    return [str(memory.pk) for memory in old(world.access, *texts)]


def a_summary(world: World) -> Memory:
    clustered(world)
    world.rest("POST", "/summaries")
    world.work(JobKind.SUMMARIZE_MEMORIES)
    return Memory.objects.get(is_summarized=True)


def an_import(world: World) -> Any:
    """An import that was looked at and waits for the yes."""
    world.memory()
    text = world.exported()
    world.rest("DELETE", f"/memories/{Memory.objects.get().pk}?erase=true")
    begun = world.rest("POST", "/imports", {"text": text, "dry_run": True})
    world.work(JobKind.IMPORT_VAULT)
    world.rest("POST", f"/imports/{begun['id']}/apply")
    return begun


def a_talk(world: World) -> str:
    return converse(world.access, CANARY, f"My name is {CANARY.title()} and I live in Oslo.").sid


def aged(world: World) -> None:
    memory = world.memory(bank="Work", created_at="2020-01-01T00:00:00Z")
    Memory.objects.filter(pk=memory.pk).update(updated_at=memory.created_at)
    world.rest("PUT", "/retention", {"bank": "Work", "enabled": True, "max_age_days": 90})
    world.rest("POST", "/retention/enforce")


def a_full_vault(world: World) -> None:
    for _ in range(2):
        world.memory()
    write_setting(world.access, Level.VAULT, "max_total_memories", 2)


def bulk(world: World, ids: list[str], action: str, **more: Any) -> None:
    world.rest("POST", "/memories/bulk", {"action": action, "ids": ids, "reason": world.say(), **more})


def something_old(world: World) -> None:
    world.memory(type="episodic", importance=1, created_at="2020-01-01T00:00:00Z")


def a_job_with_a_twin(world: World) -> Job:
    """A job that runs while the same is asked for again."""
    for _ in range(2):
        enqueue_job(world.access.vault_id, JobKind.SUMMARIZE_MEMORIES, dedupe_key="schedule")
        running = Job.objects.filter(state=JobState.RUNNING).first() or claimed(Job.objects.get().pk)
    return running


def a_robot(world: World) -> Any:
    agent = create_agent(world.access, AgentDraft(name=CANARY.title()))
    for _ in range(2):
        make_key(world.access, agent=agent.name)
    return agent


def a_dead_job(world: World) -> Job:
    return world.job(JobState.DEAD)


def a_key(world: World) -> Any:
    return make_key(world.access, name=CANARY)[0]


def mem0s(world: World) -> Memory:
    write_setting(world.access, Level.VAULT, "mem0_api", True)
    return world.memory(user_id=CANARY)


def elsewhere(world: World, method: str, path: str, **body: Any) -> None:
    """A door in another program's words, which must be fine."""
    answer = world.api.generic(method, path, json.dumps(body).encode(), content_type="application/json")
    assert answer.status_code < 300, answer.content


def form_of(memory: Memory, **more: Any) -> dict[str, Any]:
    fields = {"content": memory.content, "bank": memory.bank.slug, "type": memory.type, "tags": "", "entities": ""}
    return {**fields, "version": memory.version, "importance": "3", "confidence": "3", "category": "", **more}


@dataclass(frozen=True)
class Way:
    """``ready`` makes what ``act`` is done with; ``heard``: what must be heard of the act alone, as often as named."""

    act: Callable[[World, Any], object]
    heard: str
    ready: Callable[[World], Any] = lambda _: None

    @property
    def wanted(self) -> Counter[str]:
        """The types, and how often each."""
        return Counter(self.heard.split())

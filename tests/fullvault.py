"""A vault with long lists of everything, every field that somebody can set filled by one voice.

Which pages there are is read from the URLconf (``tests.addresses``); this says what to put into their addresses.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import batched, cycle, islice, pairwise
from typing import Any

from django.db import transaction

from banks.access import Access, KeyScope
from banks.models import Bank, Membership, MembershipRole
from banks.services.agents import create_agent
from banks.services.banks import create_bank
from banks.services.drafts import AgentDraft, BankDraft
from banks.services.vaults import create_vault
from memories.jobs import JobKind
from memories.models import (
    CallGuard,
    Changeset,
    CleanupPlan,
    CoreDocument,
    CoreVersion,
    DailyNote,
    Delivery,
    Dream,
    Job,
    Memory,
    ModelCall,
    NoteLine,
)
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import MemoryChanges
from memories.rules.limits import BATCH_MAX
from memories.rules.savedviews import ViewDraft
from memories.rules.vocabulary import AccessPurpose, CallResult, JobState, MemoryType, NoteKind, Purpose, Relation
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.archiving import archive_many
from memories.services.changesets import open_changeset
from memories.services.context import WriteContext
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.linking import create_link
from memories.services.plans import create_plan
from memories.services.savedviews import save_view
from memories.services.shredding import shred_vault
from memories.services.writing import write_batch
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from tests.clusters import old, summarise
from tests.factories import (
    converse,
    draft,
    dreamt_of,
    make_import,
    make_key,
    make_pair,
    make_webhook,
    operator,
    remember,
)

LABEL, ENTITY, NAME, TAG, LINE = 255, 200, 100, 64, 1000
OLD = "2025-01-01T00:00:00Z"


@dataclass(frozen=True)
class Voice:
    """Says something else each time, as long as it may be."""

    words: Sequence[str]
    #: What is said where there is only room for a line; the words that fit, unless others are given.
    lines: Sequence[str] = ()
    #: What banks are called.
    banks: Sequence[str] = tuple(f"Bank {number}" for number in range(12))
    #: What is looked for.
    query: str = "sentence"

    def __call__(self, place: int, longest: int = 100_000) -> str:
        fitting = [word for word in self._said(longest) if len(word) <= longest]
        return fitting[place % len(fitting)] if fitting else "x" * longest

    def _said(self, longest: int) -> Sequence[str]:
        return self.lines if self.lines and longest <= LINE else self.words


PLAIN = Voice([f"Sentence {number} says what nobody else says, {number * 7} times over." for number in range(100)])


@dataclass
class FullVault:
    """Rows of everything; ``ids`` has, for each parameter of an address, what may stand there."""

    access: Access
    say: Voice = PLAIN
    rows: int = 100
    ids: dict[str, list[str]] = field(default_factory=dict)

    def fill(self) -> dict[str, list[str]]:
        """All of it, and what the addresses of its pages are made of."""
        memories = self.write()
        self.change(memories)
        self.people()
        self.talk()
        self.dream(memories[0])
        self.operate(memories)
        self.listen()
        self.shred()
        return self.ids

    def write(self) -> list[Memory]:
        """Memories in each state, with long lists of everything that hangs on one."""
        access, say = self.access, self.say
        drafts = [self._draft(place) for place in range(self.rows)]
        drafts += [self._draft(place, status="draft", source_kind="agent_inferred") for place in range(self.rows)]
        drafts += [self._draft(place, type="episodic", importance=1, created_at=OLD) for place in range(self.rows)]
        memories = []
        for batch in batched(drafts, BATCH_MAX):
            for result in write_batch(access, batch):
                assert not isinstance(result, HubError), result
                memories.append(result.memory)
        hub = memories[0]
        for memory in memories[1 : self.rows]:
            link = create_link(access, hub.pk, memory.pk, Relation.RELATED)
        for older, newer in pairwise(memories[: self.rows]):
            make_pair(older, newer, differences=["name", "number"])
        for place in range(5):
            pair = make_pair(memories[place], memories[place + 9], kind="contradiction", differences=["negation"])
        record_accesses(access, [memory.pk for memory in memories[:9]], AccessPurpose.SEARCH, say(3), [0.5] * 9)
        for _ in range(30):
            record_accesses(access, [hub.pk], AccessPurpose.READ)
        flush_accesses()
        self.ids["memory_id"], self.ids["pair_id"] = [str(hub.pk), str(memories[self.rows].pk)], [str(pair.pk)]
        self.ids["other_id"], self.ids["link_id"] = [str(memories[1].pk)], [str(link.pk)]
        return memories

    def _draft(self, place: int, **more: Any) -> Any:
        say = self.say
        return draft(
            say(place),
            **{"dedup": False, "tags": [say(place, TAG), say(place + 1, TAG)], "type": list(MemoryType)[place % 4]}
            | {"entities": [say(place, ENTITY), say(place + 1, ENTITY)], "user_id": say(place, LABEL)}
            | {"session_id": say(place + 1, LABEL), "task_id": say(place + 2, LABEL), "agent_id": say(place, NAME)}
            | {"extra": {say(place, LABEL): say(place + 4)[:4000]}, "bank": "Work" if place % 2 else "Personal"}
            | more,
        )

    def change(self, memories: list[Memory]) -> None:
        """A long history, a chain, what was archived together, and a summary with its sources."""
        access, say, hub = self.access, self.say, memories[0]
        for place in range(25):
            update_memory(access, hub.pk, MemoryChanges(content=say(place + 1) + f" {place}", reason=say(place, 1000)))
        tip = hub
        for place in range(8):
            tip = remember(access, f"{say(place + 2)} ({place})", supersedes=str(tip.pk), fact_key=say(5, LABEL))
        self.ids["memory_id"].append(str(tip.pk))
        with transaction.atomic():
            changeset = open_changeset(access, "archive_memories", say(7, 1000))
            rows = Memory.objects.select_for_update().filter(pk__in=[one.pk for one in memories[-self.rows // 2 :]])
            archive_many(WriteContext.of(access), list(rows), changeset, say(7, 1000))
        self.ids["changeset_id"] = [str(changeset.pk)]
        for place in range(self.rows):
            Changeset.objects.create(
                vault=access.vault, action="archive_memories", actor_kind="system", count=1, reason=say(place, 1000)
            )
        for user in ("once", "again"):
            old(access, *(f"{say(1)} is {age}, see {say(2)}." for age in (40, 41, 42)), user_id=user)
            if user == "once":
                summarise(access)

    def people(self) -> None:
        """Banks, agents and keys."""
        access, say = self.access, self.say
        for place, name in enumerate(say.banks):
            create_bank(access, BankDraft(name=name, description=say(place, 500)))
        for place in range(min(self.rows, len(say.words))):
            name = f"{place} {say(place, NAME - 5)}"
            agent = create_agent(access, AgentDraft(name=name, description=say(place, 500), default_bank="Work"))
            key, _ = make_key(access, frozenset({KeyScope.MEMORIES_READ}), name=say(place, NAME), agent=name)
            self.ids["agent_id"], self.ids["key_id"] = [str(agent.pk)], [str(key.pk)]
        self.ids["key"] = ["dedup_skip_threshold"]
        self.ids["slug"] = ["work", Bank.objects.filter(vault=access.vault).latest("created_at").slug]

    def talk(self) -> None:
        """Conversations, one of them long, and the daily notes they left."""
        access, say = self.access, self.say
        for place in range(self.rows):
            named = "".join(filter(str.isprintable, f"{place} {say(place, LABEL - 5)}"))
            converse(access, named, say(place), user_id=say(place, LABEL))
        turns: list[Any] = [
            {"role": "ai", "content": say(n), "tool_calls": [{"id": str(n), "name": say(n, 200), "arguments": say(n)}]}
            for n in range(self.rows // 2)
        ]
        session = converse(access, "long", *turns, task_id=say(0, LABEL), user_id=say(1, LABEL))
        session.summary = say(4)
        session.summarized_through = 3
        session.save()
        today = now()
        for back in range(self.rows):
            date = (today - dt.timedelta(days=back + 3)).date()
            note = DailyNote.objects.create(vault=access.vault, namespace=["default"], date=date, line_count=9)
            kinds = islice(cycle(NoteKind), 9)
            NoteLine.objects.bulk_create(
                NoteLine(vault=access.vault, note=note, session=session, kind=kind.value, text=say(back + place))
                for place, kind in enumerate(kinds)
            )
        self.ids["session_id"], self.ids["day"] = [str(session.pk)], [date.isoformat()]

    def dream(self, memory: Memory) -> None:
        """A core document with many versions, and a long diary."""
        access, say = self.access, self.say
        dreamt_of(access, remember(access, f"{say(3)} of old.", confidence=5, dedup=False))
        dream = dreamt_of(access, remember(access, f"{say(4)} twice.", confidence=5, dedup=False))
        document = CoreDocument.objects.get(vault=access.vault)
        newest = CoreVersion.objects.filter(document=document).latest("number")
        lines = [newest.lines[0] | {"text": say(place)} for place in range(self.rows)]
        for number in range(document.version + 1, document.version + 31):
            CoreVersion.objects.create(
                vault=access.vault, document=document, number=number, actor_kind="system",
                lines=lines[number % 5 :] if number % 2 else lines, memory_ids=[memory.pk],
            )  # fmt: skip
        document.version = number
        document.save()
        said = {"text": say(5), "before": say(6)}
        dream.diary = [entry | {name: said[name] for name in said if name in entry} for entry in dream.diary * 30]
        dream.save()
        for place in range(self.rows):
            Dream.objects.create(
                vault=access.vault, namespace=["default", say(place, LABEL)], lookback_days=3, actor_kind="system",
                state="done", reason="", finished_at=now(),
            )  # fmt: skip
        self.ids["version"], self.ids["dream_id"] = [str(number)], [str(dream.pk)]

    def operate(self, memories: list[Memory]) -> None:
        """Jobs, model calls, guards, plans, receipts, imports."""
        access, say, vault = self.access, self.say, self.access.vault
        states = list(JobState)
        Job.objects.bulk_create(
            Job(
                vault=vault, kind=list(JobKind)[place % len(JobKind)].value, state=states[place % len(states)].value,
                error=say(place, 500), stage=say(place, 80), done=place, total=self.rows,
            )
            for place in range(self.rows)
        )  # fmt: skip
        self.ids["job_id"] = [str(Job.objects.filter(vault=vault, state=state).latest("pk").pk) for state in states]
        ModelCall.objects.bulk_create(
            ModelCall(
                vault=vault, purpose=list(Purpose)[place % 6].value, result=list(CallResult)[place % 4].value,
                model=say(place, 200), detail=say(place, 300), reason="guard_open" if place % 4 == 3 else "",
                provider=say(place, 40),
                subjects=[memories[0].pk],
            )
            for place in range(self.rows)
        )  # fmt: skip
        for service in ("chat", "embedder"):
            guard, _ = CallGuard.objects.get_or_create(vault=vault, service=service)
            guard.errors, guard.opened_at, guard.last_error = [now()] * 3, now(), say(6, 300)
            guard.save()
        plan = create_plan(access, CleanupWish.parse({"rules": list(CleanupRule), "query": "archived:any"}))
        for place in range(self.rows):
            CleanupPlan.objects.create(
                vault=vault, rules=["query"], query=say(place), thresholds=plan.thresholds, actor_kind="system"
            )
        receipts = [erase_memory(access, remember(access, say(n) + " erased", dedup=False).pk) for n in range(5)]
        brought = make_import(access)
        refused = [{"line": place + 1, "detail": say(place)} for place in range(self.rows)]
        brought.refused, brought.error, brought.state = refused, say(8, 300), "failed"
        brought.save()
        self.ids["plan_id"], self.ids["import_id"] = [str(plan.pk)], [str(brought.pk)]
        self.ids["receipt_id"] = [str(receipts[0].pk)]

    def listen(self) -> None:
        """An endpoint with deliveries, and saved views."""
        access, say = self.access, self.say
        webhook = make_webhook(access)
        webhook.name, webhook.failures = say(0, NAME), 3
        webhook.save()
        Delivery.objects.bulk_create(
            Delivery(vault_id=access.vault_id, webhook=webhook, event="memory.added", error=say(place, 40))
            for place in range(self.rows)
        )
        views = [save_view(access, ViewDraft(name=say(place, 50), address="q=x", is_shared=True)) for place in range(9)]
        self.ids["view_id"], self.ids["webhook_id"] = [str(views[0].pk)], [str(webhook.pk)]
        self.ids["delivery_id"] = [str(one.pk) for one in webhook.deliveries.all()[:1]]

    def shred(self) -> None:
        """Another vault of the same owners, which is no more."""
        owners = [each.user for each in Membership.objects.filter(vault=self.access.vault, role=MembershipRole.OWNER)]
        name = f"Gone: {self.access.vault.name[:90]}"
        gone = operator(create_vault(name, *owners))
        self.ids["shredded_vault.receipt_id"] = [str(shred_vault(gone, name).pk)]

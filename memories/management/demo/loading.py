"""Tell the story to a vault through the services a user would call."""

from __future__ import annotations

from itertools import batched
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction

from banks.access import Door, KeyScope, access_from_secret, access_from_user, system_access
from banks.models import Membership, MembershipRole, Vault
from banks.services.agents import create_agent, list_agents
from banks.services.banks import create_bank, list_banks, name_key
from banks.services.drafts import AgentDraft, KeyDraft
from banks.services.keys import create_key
from banks.services.vaults import create_vault
from memories.management.demo.numbers import tell_numbers
from memories.management.demo.story import PERSON, PREFIX, Item, Story, read_story
from memories.management.demo.talks import read_talks
from memories.models import Memory
from memories.rules.cleanup import CLUSTERING, SEED_RULES
from memories.rules.cleanupwishes import CleanupWish
from memories.rules.drafts import MemoryChanges
from memories.rules.limits import BATCH_MAX
from memories.rules.vocabulary import Status
from memories.services.editing import update_memory
from memories.services.inbox import SAMPLE
from memories.services.lifecycle import archive_memory, change_status
from memories.services.linking import create_link
from memories.services.plans import create_plan
from memories.services.sessions import add_messages
from memories.services.writing import write_batch, write_memory
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError

if TYPE_CHECKING:
    from banks.access import Access

DEMO_VAULT = "Demo"
REQUEST = "load_demo"
AGENT_SCOPES = [KeyScope.MEMORIES_READ, KeyScope.MEMORIES_WRITE, KeyScope.SESSIONS, KeyScope.IMPORT]


def choose_vault() -> Vault:
    """Where the story belongs: where it was told before, else an only vault that is still empty, else a new one."""
    told = Memory.objects.filter(external_write_id__startswith=PREFIX).values("vault_id")
    if known := Vault.objects.filter(pk__in=told).first():
        return known
    vaults = list(Vault.objects.all()[:2])
    if len(vaults) == 1 and not Memory.objects.filter(vault=vaults[0]).exists():
        return vaults[0]
    named = Vault.objects.filter(name=DEMO_VAULT).first()
    return named or create_vault(DEMO_VAULT, *User.objects.filter(is_superuser=True))


def is_told(vault: Vault) -> bool:
    """Whether the vault holds the story already."""
    return Memory.objects.filter(vault=vault, external_write_id__startswith=PREFIX).exists()


def tell(vault: Vault) -> int:
    """Write the story, whole or not at all; how many memories it has. Call it inside `gate.session()`."""
    with transaction.atomic():
        return _Telling(vault, read_story()).tell()


class _Telling:
    """One telling: the voices that speak and the ids of what they said."""

    def __init__(self, vault: Vault, story: Story) -> None:
        self.story = story
        self.hub = system_access(vault.pk, REQUEST, Door.COMMAND)
        self.today = now()
        self.ids: dict[str, str] = {}
        self.voices: dict[str, Access] = {}

    def tell(self) -> int:
        """Everything in the order in which it happened, as far as the order matters."""
        self._open_banks()
        self._find_voices()
        for voice, items in self.story.by_voice():
            for batch in batched(items, BATCH_MAX):
                self._write(voice, list(batch))
        for bank, item in self.story.successors():
            self._succeed(bank, item)
        self._decide()
        for talk in read_talks():
            add_messages(self.voices[talk.by], talk.sid, talk.to_part(self.today))
        create_plan(self.voices[PERSON], CleanupWish(rules=[*SEED_RULES, *CLUSTERING]))
        tell_numbers(self.hub, self.today)
        return len(self.ids)

    def _open_banks(self) -> None:
        there = {bank.name_key for bank in list_banks(self.hub, include_hidden=True)}
        for draft in self.story.frame.new_banks:
            if name_key(draft.name) not in there:
                create_bank(self.hub, draft)

    def _find_voices(self) -> None:
        self.voices[PERSON] = self._owner()
        there = {agent.name for agent in list_agents(self.hub)}
        for draft in self.story.frame.agents:
            if draft.name not in there:
                create_agent(self.hub, draft)
            self.voices[draft.name] = self._agent(draft)

    def _owner(self) -> Access:
        owner = Membership.objects.select_related("user").filter(
            vault_id=self.hub.vault_id, role=MembershipRole.OWNER, user__is_active=True
        )
        first = owner.order_by("pk").first()
        return access_from_user(first.user, self.hub.vault_id, REQUEST) if first else self.hub

    def _agent(self, draft: AgentDraft) -> Access:
        """An agent speaks through a key of its own, as it would; nobody is told the secret."""
        _, secret = create_key(self.hub, KeyDraft(name=f"{draft.name}{SAMPLE}", scopes=AGENT_SCOPES, agent=draft.name))
        return access_from_secret(secret, REQUEST)

    def _write(self, voice: str, items: list[tuple[str, Item]]) -> None:
        drafts = [item.to_draft(bank, self.today, None) for bank, item in items]
        for (_, item), result in zip(items, write_batch(self.voices[voice], drafts), strict=True):
            if isinstance(result, HubError):
                raise result
            self.ids[item.id] = str(result.memory.pk)

    def _succeed(self, bank: str, item: Item) -> None:
        old = self.ids[item.supersedes or ""]
        draft = item.to_draft(bank, self.today, old)
        self.ids[item.id] = str(write_memory(self.voices[item.by], draft).memory.pk)
        # What was replaced held until then, not until the story was told.
        Memory.objects.filter(pk=old).update(archived_at=draft.created_at)

    def _decide(self) -> None:
        """What the person did in the browser: reviewed, edited, linked, put away."""
        person, frame = self.voices[PERSON], self.story.frame
        for _, item in self.story.items:
            if item.verified:
                update_memory(person, self.ids[item.id], MemoryChanges(trust="verified", reason="Confirmed by Mira."))
        for decision in frame.accepted:
            change_status(person, self.ids[decision.id], Status.ACCEPTED, decision.reason)
        for decision in frame.discarded:
            change_status(person, self.ids[decision.id], Status.DISCARD, decision.reason)
        for edit in frame.edited:
            update_memory(person, self.ids[edit.id], edit.to_changes())
        for tie in frame.links:
            create_link(person, self.ids[tie.source], self.ids[tie.target], tie.relation)
        for decision in frame.archived:
            archive_memory(person, self.ids[decision.id], reason=decision.reason)

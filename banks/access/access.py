"""``Access``: made here only, first argument of every service and search function."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q

from banks.access.keyring import keys_of_vault
from banks.access.lookup import find_key
from banks.access.scopes import ALL_SCOPES, ROLE_SCOPES, KeyScope
from banks.access.secret import InvalidKey, digest_of, public_id_of
from banks.models import Agent, ApiKey, Membership, Vault
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import VaultKeys, same
from memoryhub.lib.errors import Denied, NotFound
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    from django.contrib.auth.models import User

USE_IS_NOTED_EVERY = dt.timedelta(minutes=1)


class MissingScope(Denied):
    """The key or role lacks the scope this needs."""

    code = "missing_scope"


class WholeVaultNeeded(Denied):
    """This works on the whole vault, and the key reaches only a part of it; use one without limits."""

    code = "whole_vault_needed"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: kind is key, user or system; ``id`` goes into history, ``label`` is for people."""

    kind: str
    id: str
    label: str


class Door(StrEnum):
    """Through which of the hub's doors a caller came; the hub's own work comes through none of the others: a job."""

    REST = "rest"
    MCP = "mcp"
    BROWSER = "browser"
    COMMAND = "command"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Access:
    """One caller in one vault. ``bank_ids`` of None means every bank."""

    vault: Vault
    actor: Actor
    scopes: frozenset[str]
    keys: VaultKeys = field(repr=False)
    agent: Agent | None = None
    bank_ids: frozenset[UUID] | None = None
    request_id: str = ""
    door: str = Door.JOB.value

    @property
    def vault_id(self) -> UUID:
        """The vault everything happens in."""
        return self.vault.pk

    @property
    def agent_id(self) -> str | None:
        """The id that memories of the key's agent carry."""
        return str(self.agent.pk) if self.agent else None

    def has(self, scope: KeyScope) -> bool:
        """Whether the caller holds ``scope``."""
        return scope in self.scopes

    def require(self, *scopes: KeyScope) -> None:
        """Raises MissingScope naming what is missing."""
        missing = [scope for scope in scopes if scope not in self.scopes]
        if missing:
            raise MissingScope(
                f"This needs the scope {', '.join(missing)}, which {self.actor.label} does not have.",
                extra={"missing_scopes": [str(scope) for scope in missing]},
            )

    def may_use_bank(self, bank_id: UUID) -> bool:
        """Whether the caller's key reaches that bank."""
        return self.bank_ids is None or bank_id in self.bank_ids

    @property
    def reaches_whole_vault(self) -> bool:
        """Not limited to banks, nor kept apart from the other agents."""
        return self.bank_ids is None and (self.agent is None or not self.agent.is_isolated)

    def require_whole_vault(self) -> None:
        """Raises WholeVaultNeeded for a caller that reaches only a part."""
        if not self.reaches_whole_vault:
            raise WholeVaultNeeded

    def within(self, bank_id: UUID) -> Access:
        """The same caller, reaching that bank only, or none when it did not reach it before."""
        return replace(self, bank_ids=frozenset({bank_id}) if self.may_use_bank(bank_id) else frozenset())


def access_from_secret(secret: str, request_id: str, door: Door = Door.REST) -> Access:
    """The access of an API key, its vault unlocked. Raises InvalidKey; revocation counts at once."""
    found = find_key(public_id_of(secret))
    # An unknown id costs the same hash as a known one, so that time does not tell them apart.
    digest = digest_of(secret)
    at = now()
    if found is None or not same(digest, bytes(found.key.digest)) or not _is_live(found.key, at):
        raise InvalidKey
    key = found.key
    _note_use(key, at)
    return _opened(
        Access(
            vault=key.vault,
            actor=Actor("key", str(key.pk), f"key “{key.name}”"),
            scopes=frozenset(key.scopes),
            keys=keys_of_vault(key.vault_id, found.data_keys),
            agent=key.agent,
            bank_ids=None if key.all_banks else found.bank_ids,
            request_id=request_id,
            door=door.value,
        )
    )


def _is_live(key: ApiKey, at: dt.datetime) -> bool:
    return (key.revoked_at is None or key.revoked_at > at) and (key.expires_at is None or key.expires_at > at)


def require_live(access: Access) -> None:
    """For whoever waited: raises InvalidKey when the caller's key was revoked or has expired since."""
    if access.actor.kind != "key":
        return
    key = ApiKey.objects.filter(vault_id=access.vault_id, pk=access.actor.id).first()
    if key is None or not _is_live(key, now()):
        raise InvalidKey


def _note_use(key: ApiKey, at: dt.datetime) -> None:
    stale = at - USE_IS_NOTED_EVERY
    if key.last_used_at is None or key.last_used_at < stale:
        due = Q(last_used_at=None) | Q(last_used_at__lt=stale)
        ApiKey.objects.filter(due, pk=key.pk).update(last_used_at=at)


def access_from_user(user: User, vault_id: UUID | None, request_id: str) -> Access:
    """A person's access to one of their vaults (the first by name when ``vault_id`` is None), unlocked.

    Raises NotFound when they are not a member: a foreign vault looks like an unknown one.
    """
    memberships = Membership.objects.select_related("vault").filter(
        user_id=user.pk, user__is_active=True, vault__shredded_at=None
    )
    if vault_id is not None:
        memberships = memberships.filter(vault_id=vault_id)
    membership = memberships.order_by("vault__name").first()
    if membership is None:
        raise NotFound("There is no such vault among yours.")
    return _opened(
        Access(
            vault=membership.vault,
            actor=Actor("user", str(user.pk), user.get_username()),
            scopes=frozenset(ROLE_SCOPES[membership.role]),
            keys=keys_of_vault(membership.vault_id),
            request_id=request_id,
            door=Door.BROWSER.value,
        )
    )


def vaults_of(user: User) -> list[Vault]:
    """The vaults a person is a member of, by name."""
    mine = Vault.objects.filter(memberships__user_id=user.pk, memberships__user__is_active=True)
    return list(mine.filter(shredded_at=None).order_by("name"))


def system_access(vault_id: UUID, request_id: str = "", door: Door = Door.JOB) -> Access:
    """The hub itself acting in a vault: jobs and management commands. Raises NotFound."""
    vault = Vault.objects.filter(pk=vault_id).first()
    if vault is None:
        raise NotFound("There is no such vault.")
    return _opened(
        Access(
            vault=vault,
            actor=Actor("system", "", "the hub"),
            scopes=ALL_SCOPES,
            keys=keys_of_vault(vault_id),
            request_id=request_id,
            door=door.value,
        )
    )


def acting_for(hub: Access, agent: Agent | None, bank_ids: frozenset[UUID] | None) -> Access:
    """The hub's own access, narrowed to an agent and to some banks: work done later for a key reaches no further."""
    banks = hub.bank_ids if bank_ids is None else bank_ids if hub.bank_ids is None else hub.bank_ids & bank_ids
    return replace(hub, agent=hub.agent or agent, bank_ids=banks)


def mandate_of(access: Access) -> dict[str, Any]:
    """What a job must remember to act for this caller, and no further: ids and a label, never a secret."""
    return {
        "actor_kind": access.actor.kind,
        "actor_id": access.actor.id,
        "agent_id": access.agent_id,
        "bank_ids": None if access.bank_ids is None else sorted(map(str, access.bank_ids)),
    }


def mandate_stands(vault_id: UUID, mandate: Mapping[str, Any]) -> bool:
    """Whether whoever gave it may still act here: a member, or a key that is live, or one it was rotated into."""
    if mandate["actor_kind"] == "user":
        return Membership.objects.filter(vault_id=vault_id, user_id=mandate["actor_id"], user__is_active=True).exists()
    if mandate["actor_kind"] != "key":
        return True
    at, key = now(), ApiKey.objects.filter(vault_id=vault_id, pk=mandate["actor_id"]).first()
    while key is not None and not _is_live(key, at):
        key = ApiKey.objects.filter(vault_id=vault_id, rotated_from=key).first()
    return key is not None


def acting_under(hub: Access, mandate: Mapping[str, Any]) -> Access:
    """The hub's own access in the name of whoever asked, narrowed to what that caller reached. Raises NotFound."""
    agent = None
    if mandate["agent_id"] is not None:
        agent = Agent.objects.select_related("vault").filter(vault_id=hub.vault_id, pk=mandate["agent_id"]).first()
        if agent is None:
            raise NotFound("The agent that asked for this is gone; ask again with another key.")
    banks = None if mandate["bank_ids"] is None else frozenset(map(UUID, mandate["bank_ids"]))
    actor = Actor(mandate["actor_kind"], mandate["actor_id"], "whoever asked")
    return replace(acting_for(hub, agent, banks), actor=actor)


def reaching_as(hub: Access, actor: Actor) -> Access:
    """The hub's own access, reaching no further than the key that acted did; for anybody else as far as it goes."""
    if actor.kind != "key":
        return hub
    keys = ApiKey.objects.select_related("agent__vault").filter(vault_id=hub.vault_id, pk=actor.id)
    key = keys.prefetch_related("banks").first()
    if key is None:
        return hub
    banks = None if key.all_banks else frozenset(bank.pk for bank in key.banks.all())
    return acting_for(hub, key.agent, banks)


@contextmanager
def reopened(access: Access) -> Iterator[Access]:
    """The same access in a session of its own: for an answer that is still being sent when its request is over."""
    with gate.session():
        yield _opened(access)


def _opened(access: Access) -> Access:
    gate.unlock(access.vault_id, access.keys, partial(keys_of_vault, access.vault_id))
    return access

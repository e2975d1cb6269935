"""Banks, agents and keys as JSON."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, TypedDict
from uuid import UUID

from pydantic import with_config

from banks.access import Access, KeyScope
from banks.models import Agent, ApiKey, Bank
from memoryhub.lib.openapi.shapes import Word, shown


@with_config(shown({"name": "Personal", "slug": "personal", "description": "Who somebody is and what they like."}))
class BankOut(TypedDict):
    """A topic of the vault."""

    id: UUID
    name: str
    slug: str
    description: str
    is_default: bool
    is_hidden: bool
    created_at: dt.datetime
    updated_at: dt.datetime


class BankList(TypedDict):
    """The banks the key reaches, the default first."""

    items: list[BankOut]


@with_config(
    shown(
        {
            "name": "Scribe",
            "description": "Writes down what was decided.",
            "default_bank": "Work",
            "preferred_banks": ["Work"],
            "trust_ceiling": "stated",
        }
    )
)
class AgentOut(TypedDict):
    """A caller and where its memories go."""

    id: UUID
    name: str
    description: str
    default_bank: str | None
    preferred_banks: list[str]
    is_isolated: bool
    trust_ceiling: str
    created_at: dt.datetime
    updated_at: dt.datetime


class AgentList(TypedDict):
    """The vault's agents by name."""

    items: list[AgentOut]


_KEY = {
    "name": "scribe",
    "prefix": "mh_live_Zk3v9QpL",
    "scopes": ["memories:read", "memories:write"],
    "banks": ["Work"],
    "agent": "Scribe",
}


@with_config(shown(_KEY))
class KeyOut(TypedDict):
    """A key without its secret; ``banks`` of null means every bank."""

    id: UUID
    name: str
    prefix: str
    scopes: list[Annotated[str, Word(KeyScope)]]
    banks: list[str] | None
    agent: str | None
    agent_id: UUID | None
    created_at: dt.datetime
    expires_at: dt.datetime | None
    revoked_at: dt.datetime | None
    last_used_at: dt.datetime | None
    rotated_from: UUID | None


@with_config(shown({**_KEY, "key": "mh_live_Zk3v9QpL_…"}))
class NewKeyOut(KeyOut):
    """A key with its secret, this once."""

    key: str


class KeyList(TypedDict):
    """The vault's keys, newest first."""

    items: list[KeyOut]


@with_config(shown({"name": "Home"}))
class Named(TypedDict):
    """An id and what people call it."""

    id: UUID
    name: str


@with_config(shown({"kind": "key", "id": "01990d5c-8f2e-7c4a-b1d6-2f6a4e9c0b19", "label": "scribe"}))
class ActorOut(TypedDict):
    """Who acts."""

    kind: str
    id: str
    label: str


@with_config(shown({"scopes": ["memories:read", "memories:write"]}))
class WhoAmI(TypedDict):
    """What the hub knows about the caller; ``bank_ids`` of null means every bank."""

    vault: Named
    actor: ActorOut
    agent: Named | None
    scopes: list[Annotated[str, Word(KeyScope)]]
    bank_ids: list[UUID] | None


def bank_out(bank: Bank) -> BankOut:
    """One bank."""
    return {
        "id": bank.pk,
        "name": bank.name,
        "slug": bank.slug,
        "description": bank.description,
        "is_default": bank.is_default,
        "is_hidden": bank.is_hidden,
        "created_at": bank.created_at,
        "updated_at": bank.updated_at,
    }


def agent_out(agent: Agent) -> AgentOut:
    """One agent."""
    return {
        "id": agent.pk,
        "name": agent.name,
        "description": agent.description,
        "default_bank": agent.default_bank.name if agent.default_bank else None,
        "preferred_banks": [bank.name for bank in agent.preferred_banks.all()],
        "is_isolated": agent.is_isolated,
        "trust_ceiling": agent.trust_ceiling,
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
    }


def key_out(key: ApiKey) -> KeyOut:
    """One key."""
    return {
        "id": key.pk,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": list(key.scopes),
        "banks": None if key.all_banks else [bank.name for bank in key.banks.all()],
        "agent": key.agent.name if key.agent else None,
        "agent_id": key.agent_id,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
        "rotated_from": key.rotated_from_id,
    }


def new_key_out(key: ApiKey, secret: str) -> NewKeyOut:
    """A key just made, with its secret."""
    return {**key_out(key), "key": secret}


def who_am_i(access: Access) -> WhoAmI:
    """The caller."""
    return {
        "vault": {"id": access.vault_id, "name": access.vault.name},
        "actor": {"kind": access.actor.kind, "id": access.actor.id, "label": access.actor.label},
        "agent": {"id": access.agent.pk, "name": access.agent.name} if access.agent else None,
        "scopes": sorted(access.scopes),
        "bank_ids": None if access.bank_ids is None else sorted(access.bank_ids),
    }

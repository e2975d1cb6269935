"""Agents: who calls, where their memories go by default."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Prefetch, QuerySet

from banks.access import Access, KeyScope, WholeVaultNeeded
from banks.models import Agent, ApiKey, Bank, PreferredBank
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_bank, find_banks
from banks.services.drafts import AgentChanges, AgentDraft
from memoryhub.lib.clock import now
from memoryhub.lib.constraints import violated
from memoryhub.lib.errors import Conflict, Denied, FieldError, Invalid, NotFound
from memoryhub.lib.ids import parse_id

_PLAIN = ("name", "description", "is_isolated", "trust_ceiling")
#: From the least to the most trusted.
TRUST_ORDER = ("untrusted", "inferred", "stated", "verified")


class AgentNameTaken(Conflict):
    """An agent with that name is already there; choose another name."""

    code = "agent_name_taken"


class FreerThanOwn(Denied):
    """A key of an agent frees no agent further than its own is; ask a person, or use a key of no agent."""

    code = "freer_than_own"


class UnknownAgent(Invalid):
    """There is no such agent in this vault; name one that GET /agents lists."""

    code = "unknown_agent"


def list_agents(access: Access) -> list[Agent]:
    """The vault's agents that are not retired, by name, with those of their banks that the caller reaches."""
    access.require(KeyScope.MEMORIES_READ)
    return [_within_reach(access, agent) for agent in _shown(access).order_by("name")]


def _shown(access: Access) -> QuerySet[Agent]:
    """To be shown, not saved: banks out of reach are left out."""
    banks = Bank.objects.filter(vault_id=access.vault_id)
    if access.bank_ids is not None:
        banks = banks.filter(pk__in=access.bank_ids)
    living = Agent.objects.filter(vault_id=access.vault_id, retired_at=None).select_related("default_bank")
    return living.prefetch_related(Prefetch("preferred_banks", banks))


def get_agent(access: Access, agent_id: str | UUID) -> Agent:
    """One agent by id. Raises NotFound."""
    access.require(KeyScope.MEMORIES_READ)
    found = _shown(access).filter(pk=parse_id(agent_id)).first()
    if found is None:
        raise NotFound("There is no such agent in this vault.")
    return _within_reach(access, found)


def _within_reach(access: Access, agent: Agent) -> Agent:
    if agent.default_bank_id is not None and not access.may_use_bank(agent.default_bank_id):
        agent.default_bank = None
    return agent


def find_agent(access: Access, name_or_id: str | UUID) -> Agent:
    """An agent of the vault by name or id. Raises UnknownAgent."""
    wanted = str(name_or_id)
    for agent in Agent.objects.filter(vault_id=access.vault_id, retired_at=None):
        if wanted.casefold() in {agent.name.casefold(), str(agent.pk)}:
            return agent
    raise UnknownAgent(errors=[FieldError("/agent", "unknown_agent", "is not an agent of this vault")])


def create_agent(access: Access, draft: AgentDraft) -> Agent:
    """A new agent. Needs banks:admin. Raises AgentNameTaken, UnknownBank."""
    access.require(KeyScope.BANKS_ADMIN)
    default = find_bank(access, draft.default_bank, "/default_bank") if draft.default_bank else None
    preferred = find_banks(access, draft.preferred_banks, "/preferred_banks")
    agent = Agent(
        vault_id=access.vault_id,
        name=draft.name,
        description=draft.description,
        default_bank=default,
        is_isolated=draft.is_isolated,
        trust_ceiling=draft.trust_ceiling,
    )
    try:
        with transaction.atomic():
            agent.save(force_insert=True)
            _prefer(agent, [bank.pk for bank in preferred])
            record_audit(access, Audited("create_agent", "agent", agent.pk))
    except IntegrityError as error:
        if violated(error) != "agent_name_once":
            raise
        raise AgentNameTaken from None
    return agent


def update_agent(access: Access, agent_id: str | UUID, changes: AgentChanges) -> Agent:
    """Change an agent; ``default_bank: null`` clears it. Needs banks:admin.

    Raises NotFound, AgentNameTaken, UnknownBank, FreerThanOwn.
    """
    access.require(KeyScope.BANKS_ADMIN, KeyScope.MEMORIES_READ)
    values = {name: value for name in _PLAIN if (value := getattr(changes, name)) is not None}
    try:
        with transaction.atomic():
            agent = _locked(access, agent_id)
            if access.agent is not None and _frees(access.agent, agent, changes):
                raise FreerThanOwn
            if "default_bank" in changes.model_fields_set:
                wanted = changes.default_bank
                values["default_bank"] = find_bank(access, wanted, "/default_bank") if wanted else None
            _save(agent, **values)
            if changes.preferred_banks is not None:
                banks = find_banks(access, changes.preferred_banks, "/preferred_banks")
                _prefer(agent, [bank.pk for bank in banks], access.bank_ids)
            record_audit(access, Audited("update_agent", "agent", agent.pk))
    except IntegrityError as error:
        if violated(error) != "agent_name_once":
            raise
        raise AgentNameTaken from None
    return get_agent(access, agent.pk)


def _frees(own: Agent, agent: Agent, changes: AgentChanges) -> bool:
    """Whether ``agent`` would see, or be trusted with, more than before and more than the changer's ``own`` agent."""
    opens = agent.is_isolated and own.is_isolated and changes.is_isolated is False
    wanted = TRUST_ORDER.index(changes.trust_ceiling) if changes.trust_ceiling is not None else 0
    return opens or wanted > max(TRUST_ORDER.index(one.trust_ceiling) for one in (own, agent))


def _locked(access: Access, agent_id: str | UUID) -> Agent:
    """The agent as it is now, nobody else's to change until the transaction ends. Raises NotFound."""
    living = Agent.objects.select_for_update().filter(vault_id=access.vault_id, retired_at=None)
    agent = living.filter(pk=parse_id(agent_id)).first()
    if agent is None:
        raise NotFound("There is no such agent in this vault.")
    return agent


def _save(agent: Agent, **values: Any) -> None:
    """Write these columns and no other, so that another caller's change of the rest stays."""
    agent.updated_at = now()
    for name, value in values.items():
        setattr(agent, name, value)
    agent.save(update_fields=[*values, "updated_at"])


def retire_agent(access: Access, agent_id: str | UUID) -> Agent:
    """End an agent: its keys are revoked at once, its memories stay. Needs banks:admin.

    Raises NotFound, WholeVaultNeeded where one of its keys reaches a bank the caller does not.
    """
    access.require(KeyScope.BANKS_ADMIN, KeyScope.MEMORIES_READ)
    with transaction.atomic():
        agent = _locked(access, agent_id)
        live = ApiKey.objects.filter(vault_id=access.vault_id, agent=agent, revoked_at=None)
        if live.exclude(pk__in=live.within(access.bank_ids).values("pk")).exists():
            raise WholeVaultNeeded
        _save(agent, retired_at=now())
        _revoke_keys(access, agent)
        record_audit(access, Audited("retire_agent", "agent", agent.pk))
    return agent


def _revoke_keys(access: Access, agent: Agent) -> None:
    """Each is told like any other that is revoked."""
    live = ApiKey.objects.select_for_update().filter(vault_id=access.vault_id, agent=agent, revoked_at=None)
    ids = list(live.values_list("pk", flat=True))
    ApiKey.objects.filter(pk__in=ids).update(revoked_at=agent.retired_at)
    record_audit(access, *(Audited("revoke_key", "api_key", one, event="key.revoked") for one in ids))


def _prefer(agent: Agent, bank_ids: list[UUID], reached: Collection[UUID] | None = None) -> None:
    """These instead of those there are; what the caller does not reach stays."""
    left = PreferredBank.objects.filter(agent=agent).exclude(bank_id__in=bank_ids)
    (left if reached is None else left.filter(bank_id__in=reached)).delete()
    PreferredBank.objects.bulk_create(
        [PreferredBank(vault_id=agent.vault_id, agent=agent, bank_id=bank_id) for bank_id in dict.fromkeys(bank_ids)],
        ignore_conflicts=True,
    )

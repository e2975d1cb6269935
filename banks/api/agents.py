"""Agents: list, create, change."""

from __future__ import annotations

from django.http import HttpResponse
from ninja import Router

from banks.access import KeyScope, WholeVaultNeeded
from banks.api.requests import ApiRequest
from banks.api.shapes import AgentList, AgentOut, agent_out
from banks.services import agents
from banks.services.agents import AgentNameTaken, FreerThanOwn
from banks.services.banks import UnknownBank
from banks.services.drafts import AgentChanges, AgentDraft
from memoryhub.lib.answers import json_answer
from memoryhub.lib.openapi.told import told

router = Router()


@router.get("/agents", response=AgentList, **told("List agents", KeyScope.MEMORIES_READ))
def list_agents(request: ApiRequest) -> HttpResponse:
    """The vault's agents by name."""
    return json_answer({"items": [agent_out(agent) for agent in agents.list_agents(request.access)]})


@router.post(
    "/agents", response={201: AgentOut}, **told("Create an agent", KeyScope.BANKS_ADMIN, AgentNameTaken, UnknownBank)
)
def create_agent(request: ApiRequest, draft: AgentDraft) -> HttpResponse:
    """A new agent."""
    return json_answer(agent_out(agents.create_agent(request.access, draft)), 201)


@router.get("/agents/{agent_id}", response=AgentOut, **told("Read an agent", KeyScope.MEMORIES_READ))
def get_agent(request: ApiRequest, agent_id: str) -> HttpResponse:
    """One agent by id."""
    return json_answer(agent_out(agents.get_agent(request.access, agent_id)))


@router.patch(
    "/agents/{agent_id}",
    response=AgentOut,
    **told("Change an agent", KeyScope.BANKS_ADMIN, AgentNameTaken, UnknownBank, FreerThanOwn),
)
def update_agent(request: ApiRequest, agent_id: str, changes: AgentChanges) -> HttpResponse:
    """Change an agent; `default_bank: null` goes back to the vault's default."""
    return json_answer(agent_out(agents.update_agent(request.access, agent_id, changes)))


@router.delete(
    "/agents/{agent_id}", response={204: None}, **told("Retire an agent", KeyScope.BANKS_ADMIN, WholeVaultNeeded)
)
def retire_agent(request: ApiRequest, agent_id: str) -> HttpResponse:
    """End an agent: its keys stop working at once, its memories stay."""
    agents.retire_agent(request.access, agent_id)
    return HttpResponse(status=204)

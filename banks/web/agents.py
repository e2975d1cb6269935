"""Agents: who calls, and where their memories go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse

from banks.access import KeyScope
from banks.services.agents import create_agent, get_agent, list_agents, update_agent
from banks.services.banks import list_banks
from banks.services.drafts import AgentChanges, AgentDraft
from banks.web.forms import AgentForm, agent_initial
from memoryhub.lib.pages import SeeOther, answer_page, say, submitted

if TYPE_CHECKING:
    from django.http import HttpResponse

    from banks.web.requests import HubRequest


def agents(request: HubRequest) -> HttpResponse:
    """The vault's agents, and the form for one more."""
    form = AgentForm(request.POST or None, banks=list_banks(request.access))
    if made := submitted(form, lambda: create_agent(request.access, AgentDraft.parse(form.draft()))):
        say(request, f"Agent “{made.name}” is there. Give it a key next.")
        return SeeOther(reverse("agents"))
    context = {
        "agents": list_agents(request.access),
        "form": form,
        "may_change": request.access.has(KeyScope.BANKS_ADMIN),
    }
    return answer_page(request, "banks/agents.html", context, status=422 if form.errors else 200)


def agent(request: HubRequest, agent_id: str) -> HttpResponse:
    """One agent and its form."""
    found = get_agent(request.access, agent_id)
    form = AgentForm(request.POST or None, banks=list_banks(request.access), initial=agent_initial(found))
    if submitted(form, lambda: update_agent(request.access, agent_id, AgentChanges.parse(form.draft()))):
        say(request, "Saved.")
        return SeeOther(reverse("agents"))
    context = {"agent": found, "form": form, "may_change": request.access.has(KeyScope.BANKS_ADMIN)}
    return answer_page(request, "banks/agent.html", context, status=422 if form.errors else 200)

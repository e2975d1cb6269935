"""The vault itself: banks, agents, keys, settings, and who is asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from memoryhub.client.answers import Agent, Bank, Key, Listing, Setting, WhoAmI
from memoryhub.client.fields import AgentFields, Id, Moment
from memoryhub.client.request import Call, get, nothing, patch, post, said, segment


def whoami() -> Call[WhoAmI]:
    """Which vault, agent and scopes the key has."""
    return get("/whoami", WhoAmI)


def list_banks(*, include_hidden: bool | None = None) -> Call[Listing[Bank]]:
    """The topics there are."""
    return get("/banks", Listing[Bank], include_hidden=include_hidden)


def create_bank(name: str, *, description: str = "") -> Call[Bank]:
    """Add a topic."""
    return post("/banks", Bank, {"name": name, "description": description})


def get_bank(bank_id: Id) -> Call[Bank]:
    """One bank, by id, slug or name."""
    return get(f"/banks/{segment(bank_id)}", Bank)


def update_bank(
    bank_id: Id,
    *,
    name: str | None = None,
    description: str | None = None,
    is_hidden: bool | None = None,
    is_default: bool | None = None,
) -> Call[Bank]:
    """Change what is given."""
    body = said(name=name, description=description, is_hidden=is_hidden, is_default=is_default)
    return patch(f"/banks/{segment(bank_id)}", Bank, body)


def archive_bank(bank_id: Id) -> Call[None]:
    """Hide a bank; its memories stay."""
    return Call("DELETE", f"/banks/{segment(bank_id)}", nothing)


def list_agents() -> Call[Listing[Agent]]:
    """The vault's agents."""
    return get("/agents", Listing[Agent])


def create_agent(**fields: Unpack[AgentFields]) -> Call[Agent]:
    """Add an agent; it needs a ``name``."""
    return post("/agents", Agent, dict(fields))


def get_agent(agent_id: Id) -> Call[Agent]:
    """One agent."""
    return get(f"/agents/{segment(agent_id)}", Agent)


def update_agent(agent_id: Id, **fields: Unpack[AgentFields]) -> Call[Agent]:
    """Change what is given."""
    return patch(f"/agents/{segment(agent_id)}", Agent, dict(fields))


def retire_agent(agent_id: Id) -> Call[None]:
    """Put an agent away; its memories stay."""
    return Call("DELETE", f"/agents/{segment(agent_id)}", nothing)


def list_keys() -> Call[Listing[Key]]:
    """Keys without their secrets, newest first."""
    return get("/keys", Listing[Key])


def create_key(
    name: str,
    scopes: Sequence[str],
    *,
    banks: Sequence[str] | None = None,
    agent: str | None = None,
    expires_at: Moment | None = None,
) -> Call[Key]:
    """Issue a key; its secret is in this answer only."""
    body = {"name": name, "scopes": list(scopes), **said(banks=banks, agent=agent, expires_at=expires_at)}
    return replace(post("/keys", Key, body), repeatable=False)


def get_key(key_id: Id) -> Call[Key]:
    """One key without its secret."""
    return get(f"/keys/{segment(key_id)}", Key)


def revoke_key(key_id: Id) -> Call[None]:
    """End a key at once."""
    return Call("DELETE", f"/keys/{segment(key_id)}", nothing)


def rotate_key(key_id: Id, *, overlap_hours: int | None = None) -> Call[Key]:
    """A new secret; the old one goes on for the overlap."""
    call = post(f"/keys/{segment(key_id)}/rotate", Key, said(overlap_hours=overlap_hours))
    return replace(call, repeatable=False)


def list_settings(*, bank: str | None = None) -> Call[Listing[Setting]]:
    """Every setting with the value that holds and where it was set."""
    return get("/settings", Listing[Setting], bank=bank)


def write_setting(key: str, value: Any, *, level: str = "vault", target: str | None = None) -> Call[Setting]:
    """Set a value for the vault, a bank or an agent; None takes it back."""
    return patch("/settings", Setting, {"key": key, "value": value, "level": level, **said(target=target)})

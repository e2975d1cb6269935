"""Every route with a request that would be fine: who may send it and which ids it takes.

A test asserts that this table names every operation there is, so that a new route cannot be forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from banks.access import KeyScope

READ = KeyScope.MEMORIES_READ
WRITE = KeyScope.MEMORIES_WRITE


@dataclass(frozen=True)
class Route:
    """One operation; ``{memory}``, ``{bank}`` … in path and body stand for ids of the vault at hand."""

    method: str
    path: str
    scope: KeyScope | None
    body: Any = None
    #: Ids inside the body, as ``{name}``; the same promises hold for them.
    body_ids: tuple[str, ...] = field(default=())


ROUTES: dict[str, Route] = {
    "write_memory": Route("POST", "/memories", WRITE, {"content": "New.", "supersedes": "{memory}"}, ("memory",)),
    "write_memories": Route("POST", "/memories/batch", WRITE, {"items": [{"content": "New."}]}),
    "list_memories": Route("GET", "/memories", READ),
    "get_memory": Route("GET", "/memories/{memory}", READ),
    "update_memory": Route("PATCH", "/memories/{memory}", WRITE, {"importance": 5}),
    "delete_memory": Route("DELETE", "/memories/{memory}", KeyScope.MEMORIES_DELETE),
    "search_memories": Route("POST", "/memories/search", READ, {"query": "anything"}),
    "read_memories": Route("POST", "/memories/read", READ, {"ids": []}),
    "archive_memory": Route("POST", "/memories/{memory}/archive", KeyScope.MEMORIES_DELETE, {"archived": True}),
    "change_status": Route("POST", "/memories/{memory}/status", KeyScope.MEMORIES_APPROVE, {"status": "discard"}),
    "supersede_memory": Route("POST", "/memories/{memory}/supersede", WRITE, {"by_id": "{successor}"}, ("successor",)),
    "restore_version": Route("POST", "/memories/{memory}/restore/1", WRITE),
    "list_revisions": Route("GET", "/memories/{memory}/revisions", READ),
    "list_links": Route("GET", "/memories/{memory}/links", READ),
    "create_link": Route("POST", "/memories/{memory}/links", WRITE, {"target_id": "{successor}"}, ("successor",)),
    "read_chain": Route("GET", "/memories/{memory}/chain", READ),
    "cleanup_memories": Route("POST", "/cleanup", KeyScope.CLEANUP_PLAN, {"dry_run": True}),
    "list_jobs": Route("GET", "/jobs", KeyScope.OPS_READ),
    "get_job": Route("GET", "/jobs/{job}", KeyScope.OPS_READ),
    "cancel_job": Route("POST", "/jobs/{job}/cancel", KeyScope.OPS_WRITE),
    "retry_job": Route("POST", "/jobs/{job}/retry", KeyScope.OPS_WRITE),
    "list_migrations": Route("GET", "/migrations", KeyScope.OPS_READ),
    "list_settings": Route("GET", "/settings", READ),
    "write_setting": Route(
        "PATCH",
        "/settings",
        KeyScope.SETTINGS_ADMIN,
        {"level": "bank", "target": "{bank}", "key": "dedup_skip_threshold", "value": 0.9},
        ("bank",),
    ),
    "list_banks": Route("GET", "/banks", READ),
    "create_bank": Route("POST", "/banks", KeyScope.BANKS_ADMIN, {"name": "Garage"}),
    "get_bank": Route("GET", "/banks/{bank}", READ),
    "update_bank": Route("PATCH", "/banks/{bank}", KeyScope.BANKS_ADMIN, {"description": "Tools."}),
    "archive_bank": Route("DELETE", "/banks/{bank}", KeyScope.BANKS_ADMIN),
    "list_agents": Route("GET", "/agents", READ),
    "create_agent": Route(
        "POST", "/agents", KeyScope.BANKS_ADMIN, {"name": "Scribe", "default_bank": "{bank}"}, ("bank",)
    ),
    "get_agent": Route("GET", "/agents/{agent}", READ),
    "update_agent": Route("PATCH", "/agents/{agent}", KeyScope.BANKS_ADMIN, {"description": "Writes."}),
    "retire_agent": Route("DELETE", "/agents/{agent}", KeyScope.BANKS_ADMIN),
    "list_keys": Route("GET", "/keys", KeyScope.KEYS_ADMIN),
    "create_key": Route(
        "POST",
        "/keys",
        KeyScope.KEYS_ADMIN,
        {"name": "k", "scopes": ["memories:read"], "banks": ["{bank}"], "agent": "{agent}"},
        ("bank", "agent"),
    ),
    "get_key": Route("GET", "/keys/{key}", KeyScope.KEYS_ADMIN),
    "rotate_key": Route("POST", "/keys/{key}/rotate", KeyScope.KEYS_ADMIN),
    "revoke_key": Route("DELETE", "/keys/{key}", KeyScope.KEYS_ADMIN),
    "whoami": Route("GET", "/whoami", None),
}


def filled(value: Any, ids: dict[str, str]) -> Any:
    """``value`` with every ``{name}`` in it replaced by the id of that name."""
    if isinstance(value, str):
        for name, identifier in ids.items():
            value = value.replace("{" + name + "}", identifier)
        return value
    if isinstance(value, dict):
        return {key: filled(item, ids) for key, item in value.items()}
    return [filled(item, ids) for item in value] if isinstance(value, list) else value

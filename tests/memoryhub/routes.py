"""Every route with a request that would be fine: who may send it and which ids it takes.

A test asserts that this table names every operation there is, so that a new route cannot be forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from banks.access import KeyScope

READ = KeyScope.MEMORIES_READ
WRITE = KeyScope.MEMORIES_WRITE
#: The first line of a vault's export.
EXPORTED = (
    '{"kind":"header","format":"memoryhub-export","version":1,"exported_at":"2026-11-21T10:00:00Z",'
    '"vault":{"id":"01890000-0000-7000-8000-000000000001","name":"Home"},"counts":{}}'
)


@dataclass(frozen=True)
class Route:
    """One operation; ``{memory}``, ``{bank}`` … in path and body stand for ids of the vault at hand."""

    method: str
    path: str
    scope: KeyScope | None
    body: Any = None
    #: Ids inside the body, as ``{name}``; the same promises hold for them.
    body_ids: tuple[str, ...] = field(default=())
    #: Scopes needed besides, as the row asked for is somebody else's.
    not_ones_own: tuple[KeyScope, ...] = field(default=())


ROUTES: dict[str, Route] = {
    "write_memory": Route("POST", "/memories", WRITE, {"content": "New.", "supersedes": "{memory}"}, ("memory",)),
    "write_memories": Route("POST", "/memories/batch", WRITE, {"items": [{"content": "New."}]}),
    "bulk_change": Route("POST", "/memories/bulk", WRITE, {"action": "protect", "ids": ["{memory}"]}),
    "list_memories": Route("GET", "/memories", READ),
    "get_memory": Route("GET", "/memories/{memory}", READ),
    "update_memory": Route("PATCH", "/memories/{memory}", WRITE, {"importance": 5}),
    "delete_memory": Route("DELETE", "/memories/{memory}", KeyScope.MEMORIES_DELETE),
    "search_memories": Route("POST", "/memories/search", READ, {"query": "anything"}),
    "explain_absence": Route(
        "POST", "/memories/search/why-not", READ, {"query": "anything", "id": "{memory}"}, ("memory",)
    ),
    "format_for_injection": Route("POST", "/memories/context", READ, {"query": "anything"}),
    "read_memories": Route("POST", "/memories/read", READ, {"ids": []}),
    "archive_memory": Route("POST", "/memories/{memory}/archive", KeyScope.MEMORIES_DELETE, {"archived": True}),
    "change_status": Route("POST", "/memories/{memory}/status", KeyScope.MEMORIES_APPROVE, {"status": "discard"}),
    "supersede_memory": Route("POST", "/memories/{memory}/supersede", WRITE, {"by_id": "{successor}"}, ("successor",)),
    "restore_version": Route("POST", "/memories/{memory}/restore/1", WRITE),
    "list_revisions": Route("GET", "/memories/{memory}/revisions", READ),
    "list_accesses": Route("GET", "/memories/{memory}/accesses", READ),
    "list_links": Route("GET", "/memories/{memory}/links", READ),
    "create_link": Route("POST", "/memories/{memory}/links", WRITE, {"target_id": "{successor}"}, ("successor",)),
    "read_chain": Route("GET", "/memories/{memory}/chain", READ),
    "list_pairs": Route("GET", "/duplicates", READ),
    "get_pair": Route("GET", "/duplicates/{pair}", READ),
    "resolve_pair": Route("POST", "/duplicates/{pair}/resolve", WRITE, {"decision": "keep_both"}),
    "reopen_pair": Route("POST", "/duplicates/{pair}/reopen", WRITE),
    "list_sessions": Route("GET", "/sessions", KeyScope.SESSIONS),
    "get_session": Route("GET", "/sessions/{session}", KeyScope.SESSIONS),
    "add_messages": Route("POST", "/sessions/tuesday/messages", KeyScope.SESSIONS, {"role": "human", "content": "Hi."}),
    "read_window": Route("GET", "/sessions/{session}/messages", KeyScope.SESSIONS),
    "read_summary": Route("GET", "/sessions/{session}/summary", KeyScope.SESSIONS),
    "flush_session": Route("POST", "/sessions/{session}/flush", KeyScope.SESSIONS),
    "preview_extraction": Route("POST", "/sessions/{session}/extract", KeyScope.SESSIONS, {"dry_run": True}),
    "erase_session": Route("DELETE", "/sessions/{session}?erase=true", KeyScope.MEMORIES_ERASE),
    "list_daily_notes": Route("GET", "/daily", READ),
    "read_daily_note": Route("GET", "/daily/2026-11-21", READ),
    "read_core_document": Route("GET", "/core-document", READ),
    "list_core_versions": Route("GET", "/core-document/versions", READ),
    "read_core_version": Route("GET", "/core-document/versions/0", READ),
    "compare_core_versions": Route("GET", "/core-document/versions/0/diff", READ),
    "restore_core_version": Route("POST", "/core-document/versions/0/restore", WRITE),
    "deep_dream": Route("POST", "/dreams", KeyScope.SESSIONS, {"lookback_days": 3}),
    "list_dreams": Route("GET", "/dreams", READ),
    "get_dream": Route("GET", "/dreams/{dream}", READ),
    "erase_everything": Route("POST", "/erasures", KeyScope.MEMORIES_ERASE, {"session_id": "tuesday", "dry_run": True}),
    "preview_retention": Route("GET", "/retention", KeyScope.CLEANUP_PLAN),
    "write_retention": Route(
        "PUT", "/retention", KeyScope.SETTINGS_ADMIN, {"bank": "{bank}", "max_age_days": 90}, ("bank",)
    ),
    "start_retention": Route("POST", "/retention/enforce", KeyScope.CLEANUP_APPLY),
    "list_receipts": Route("GET", "/erasures", KeyScope.OPS_READ),
    "get_receipt": Route("GET", "/erasures/{receipt}", KeyScope.OPS_READ),
    "verify_receipt": Route("GET", "/erasures/{receipt}/verify", KeyScope.OPS_READ),
    "cleanup_memories": Route("POST", "/cleanup", KeyScope.CLEANUP_PLAN, {"dry_run": True}),
    "create_plan": Route("POST", "/cleanup/plans", KeyScope.CLEANUP_PLAN, {"rules": ["superseded"]}),
    "list_plans": Route("GET", "/cleanup/plans", KeyScope.CLEANUP_PLAN),
    "get_plan": Route("GET", "/cleanup/plans/{plan}", KeyScope.CLEANUP_PLAN),
    "list_plan_items": Route("GET", "/cleanup/plans/{plan}/items", KeyScope.CLEANUP_PLAN),
    "choose_items": Route(
        "PATCH",
        "/cleanup/plans/{plan}/items",
        KeyScope.CLEANUP_PLAN,
        {"ticked": True},
        not_ones_own=(KeyScope.CLEANUP_APPLY,),
    ),
    "apply_plan": Route(
        "POST", "/cleanup/plans/{plan}/apply", KeyScope.CLEANUP_APPLY, {"expected_count": 1, "plan_hash": "0" * 64}
    ),
    "list_changesets": Route("GET", "/changesets", READ),
    "get_changeset": Route("GET", "/changesets/{changeset}", READ),
    "undo_changeset": Route("POST", "/changesets/{changeset}/undo", WRITE, {"memory_ids": ["{memory}"]}),
    "preview_clusters": Route("GET", "/summaries/clusters", KeyScope.CLEANUP_PLAN),
    "list_summaries": Route("GET", "/summaries", READ),
    "summarize_memories": Route("POST", "/summaries", KeyScope.CLEANUP_APPLY),
    "list_webhooks": Route("GET", "/webhooks", KeyScope.WEBHOOKS_ADMIN),
    "create_webhook": Route("POST", "/webhooks", KeyScope.WEBHOOKS_ADMIN, {"url": "https://93.184.216.34/"}),
    "get_webhook": Route("GET", "/webhooks/{webhook}", KeyScope.WEBHOOKS_ADMIN),
    "update_webhook": Route("PATCH", "/webhooks/{webhook}", KeyScope.WEBHOOKS_ADMIN, {"active": False}),
    "delete_webhook": Route("DELETE", "/webhooks/{webhook}", KeyScope.WEBHOOKS_ADMIN),
    "rotate_webhook_secret": Route(
        "POST",
        "/webhooks/{webhook}/rotate",
        KeyScope.WEBHOOKS_ADMIN,
        not_ones_own=(READ, KeyScope.CLEANUP_PLAN, KeyScope.OPS_READ, KeyScope.KEYS_ADMIN),
    ),
    "send_test": Route("POST", "/webhooks/{webhook}/test", KeyScope.WEBHOOKS_ADMIN),
    "list_deliveries": Route("GET", "/webhooks/{webhook}/deliveries", KeyScope.WEBHOOKS_ADMIN),
    "redeliver": Route("POST", "/webhooks/{webhook}/deliveries/{delivery}/redeliver", KeyScope.WEBHOOKS_ADMIN),
    "list_events": Route("GET", "/events?types=memory.*", READ),
    "list_jobs": Route("GET", "/jobs", KeyScope.OPS_READ),
    "get_job": Route("GET", "/jobs/{job}", KeyScope.OPS_READ),
    "cancel_job": Route("POST", "/jobs/{job}/cancel", KeyScope.OPS_WRITE),
    "retry_job": Route("POST", "/jobs/{job}/retry", KeyScope.OPS_WRITE),
    "read_guard": Route("GET", "/guard", KeyScope.OPS_READ),
    "reset_guard": Route("POST", "/guard/reset", KeyScope.OPS_WRITE),
    "read_stats": Route("GET", "/stats", KeyScope.OPS_READ),
    "list_model_calls": Route("GET", "/model-calls", KeyScope.OPS_READ),
    "list_migrations": Route("GET", "/migrations", KeyScope.OPS_READ),
    "start_migration": Route("POST", "/migrations", KeyScope.OPS_WRITE, {"kind": "reindex"}),
    "list_settings": Route("GET", "/settings", READ),
    "write_setting": Route(
        "PATCH",
        "/settings",
        KeyScope.SETTINGS_ADMIN,
        {"level": "bank", "target": "{bank}", "key": "dedup_skip_threshold", "value": 0.9},
        ("bank",),
    ),
    "export_vault": Route("POST", "/exports", KeyScope.EXPORT, {}),
    "begin_import": Route("POST", "/imports", KeyScope.IMPORT, {"text": EXPORTED}),
    "list_imports": Route("GET", "/imports", KeyScope.IMPORT),
    "get_import": Route("GET", "/imports/{import}", KeyScope.IMPORT),
    "stage_lines": Route("POST", "/imports/{import}/lines", KeyScope.IMPORT, {"text": "{}", "complete": False}),
    "apply_import": Route("POST", "/imports/{import}/apply", KeyScope.IMPORT),
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

"""What a key may be allowed to do, and what each role of a person includes."""

from __future__ import annotations

from enum import StrEnum

from banks.models import MembershipRole


class KeyScope(StrEnum):
    """The scopes of API keys; a person's role is turned into the same scopes."""

    MEMORIES_READ = "memories:read"
    MEMORIES_WRITE = "memories:write"
    MEMORIES_DELETE = "memories:delete"
    MEMORIES_ERASE = "memories:erase"
    MEMORIES_APPROVE = "memories:approve"
    BANKS_ADMIN = "banks:admin"
    CLEANUP_PLAN = "cleanup:plan"
    CLEANUP_APPLY = "cleanup:apply"
    SESSIONS = "sessions"
    EXPORT = "export"
    IMPORT = "import"
    KEYS_ADMIN = "keys:admin"
    SETTINGS_ADMIN = "settings:admin"
    WEBHOOKS_ADMIN = "webhooks:admin"
    OPS_READ = "ops:read"
    OPS_WRITE = "ops:write"


ALL_SCOPES = frozenset(KeyScope)

#: What a new key may do, by whom it is for.
SCOPES_FOR: dict[str, tuple[KeyScope, ...]] = {
    "agent": (
        KeyScope.MEMORIES_READ,
        KeyScope.MEMORIES_WRITE,
        KeyScope.MEMORIES_DELETE,
        KeyScope.SESSIONS,
        KeyScope.CLEANUP_PLAN,
    ),
    "reader": (KeyScope.MEMORIES_READ,),
    "operator": (KeyScope.MEMORIES_READ, KeyScope.OPS_READ, KeyScope.OPS_WRITE, KeyScope.CLEANUP_PLAN),
    "all": tuple(KeyScope),
}

_VIEWER = frozenset({KeyScope.MEMORIES_READ, KeyScope.OPS_READ, KeyScope.CLEANUP_PLAN})
_EDITOR = _VIEWER | {
    KeyScope.MEMORIES_WRITE,
    KeyScope.MEMORIES_DELETE,
    KeyScope.MEMORIES_APPROVE,
    KeyScope.CLEANUP_APPLY,
    KeyScope.SESSIONS,
}

ROLE_SCOPES: dict[str, frozenset[KeyScope]] = {
    MembershipRole.VIEWER: _VIEWER,
    MembershipRole.EDITOR: _EDITOR,
    MembershipRole.OWNER: ALL_SCOPES,
}

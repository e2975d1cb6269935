"""What the document says before its routes: what this is, and the groups of routes."""

from __future__ import annotations

DESCRIPTION = """\
One hub for what AI agents remember.

Send a key as `Authorization: Bearer mh_live_…` or as `X-API-Key`. A key belongs to one vault; what is outside it does
not exist for the key. The scopes a route needs are the roles of its security requirement.

Refusals are `application/problem+json` (RFC 9457): branch on `code`, show `detail`. Unknown fields and parameters are
refused with 422 and a pointer to each. Every answer has an `X-Request-Id`, which the log knows too.

Field names are snake_case; their camelCase is understood in requests. Moments are ISO 8601; without a time zone they
are UTC."""

_TAGS = {
    "memories": "Write, list, read and change what is remembered, one at a time or many at once.",
    "recall": "Find memories by meaning and words, build context for a prompt, and see why something was not found.",
    "lifecycle": "Archive, review, replace, and put back earlier versions.",
    "relations": "History, links and chains of a memory.",
    "review": "Memories so close that a person should decide about them.",
    "sessions": "Conversations: add turns, read the window that fits, have them read for memories.",
    "tiers": "Daily notes, the core document and the dreams that consolidate them.",
    "clean-up": "Plans of what to archive, applying them, and undoing what was changed as one.",
    "summaries": "Many old memories become one.",
    "erasure": "Remove for good, with receipts; and what each bank keeps for how long.",
    "events": "What happened, read as a stream or sent to webhooks.",
    "export and import": "A whole vault out and in.",
    "banks": "The topics of a vault.",
    "agents": "The callers of a vault and where their memories go.",
    "keys": "API keys, and who the caller is.",
    "settings": "What holds, who said so, and changing it.",
    "operations": "Jobs, migrations, guards, model calls and counts over time.",
}
TAGS = [{"name": name, "description": description} for name, description in _TAGS.items()]

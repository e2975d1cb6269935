"""What the tools take and answer, as JSON Schema. Short on purpose: every agent pays for it in every conversation.

The spelling of arguments is camelCase; snake_case is understood too. The bodies check everything again and
say what is wrong, so bounds stand here only where a model would otherwise guess. Answers name what a caller goes on
with and allow for the rest, and require nothing: an error has a structure too, and some clients hold it against this.
"""

from __future__ import annotations

from typing import Any

from memories.rules import limits
from memories.rules.cleanup import CleanupRule
from memories.rules.vocabulary import MemoryType, Trust

type Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NUMBER: Schema = {"type": "integer"}
_YES_OR_NO: Schema = {"type": "boolean"}
_NO: Schema = {"type": "boolean", "default": False}
_ONE_TO_FIVE: Schema = {"type": "integer", "minimum": 1, "maximum": 5}
_TYPE: Schema = {"type": "string", "enum": [kind.value for kind in MemoryType]}


def _about(schema: Schema, text: str) -> Schema:
    return {**schema, "description": text}


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        **({"required": list(required)} if required else {}),
    }


def _answer(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


def _many(**properties: Schema) -> Schema:
    return {"type": "array", "items": _answer(**properties)}


_WHEN = _about(_TEXT, "ISO 8601 with time zone")
_ID = _about(_TEXT, "from a search")

WRITE_MEMORY = _object(
    ("content",),
    content=_about(_TEXT, "One fact in a sentence that stands by itself"),
    memoryType={**_TYPE, "default": "fact"},
    bank=_about(_TEXT, "see list_banks"),
    importance=_about({**_ONE_TO_FIVE, "default": 3}, "5 = critical, 1 = trivial"),
    confidence=_about({**_ONE_TO_FIVE, "default": 3}, "5 = verified, 1 = a guess"),
    entities=_about(_TEXTS, "people, projects, tools"),
    tags=_TEXTS,
    factKey=_about(_TEXT, "same key = same question: a newer answer may replace the older"),
    userId=_TEXT,
    sessionId=_TEXT,
    eventAt=_WHEN,
    expiresAt=_WHEN,
    dedup=_about(_YES_OR_NO, "false keeps it beside an equal one"),
    externalWriteId=_about(_TEXT, "same id again updates instead of adding"),
    supersededById=_about(_TEXT, "id of the OLD memory this one corrects"),
    vaultId=_TEXT,
)

SEARCH_MEMORIES = _object(
    ("query",),
    query=_about(_TEXT, "what you want to know, in words"),
    topK={"type": "integer", "minimum": 1, "maximum": limits.TOP_K_MAX, "default": 10},
    threshold={"type": "number", "minimum": 0, "maximum": 1, "description": "least similarity, default 0.4"},
    memoryType=_TYPE,
    banks=_TEXTS,
    userId=_TEXT,
    tag=_TEXTS,
    compact=_about(_NO, "summaries; read_memories has the full text"),
    includeArchived=_NO,
    asOf=_about(_WHEN, "what was known then"),
    minTrust={"type": "string", "enum": [trust.value for trust in Trust]},
)

READ_MEMORIES = _object(("ids",), ids={**_TEXTS, "maxItems": limits.READ_IDS_MAX})

UPDATE_MEMORY = _object(
    ("memoryId",),
    memoryId=_ID,
    content=_TEXT,
    memoryType=_TYPE,
    bank=_TEXT,
    importance=_NUMBER,
    confidence=_NUMBER,
    entities=_TEXTS,
    tags=_TEXTS,
    expectedVersion=_about(_NUMBER, "refuse if it changed since"),
    reason=_TEXT,
)

ARCHIVE_MEMORY = _object(
    ("memoryId",),
    memoryId=_ID,
    archived={"type": "boolean", "default": True, "description": "false brings it back"},
    reason=_TEXT,
)

CLEANUP_MEMORIES = _object(
    dryRun={"type": "boolean", "default": True, "description": "false archives what is found"},
    rules={"type": "array", "items": {"type": "string", "enum": [rule.value for rule in CleanupRule]}},
    query=_about(_TEXT, "instead of rules: what to archive, such as tag:tmp"),
)

LIST_BANKS = _object()

FOUND = _answer(results=_many(id=_TEXT, score={"type": "number"}, content={}))
READ = _answer(results=_many(id=_TEXT, content={}), missing=_TEXTS)
WRITTEN = _answer(id=_TEXT, outcome=_TEXT)
UPDATED = _answer(id=_TEXT, version=_NUMBER)
ARCHIVED = _answer(id=_TEXT, archived=_YES_OR_NO)
CLEANED = _answer(plan_id=_TEXT, count=_NUMBER, candidates=_many(id=_TEXT))
BANKS = _answer(banks=_many(name=_TEXT))

"""mcp-memory-service: the rows of its SQLite file.

Read from doobidoo/mcp-memory-service, ``storage/sqlite_vec.py`` and ``storage/mixins`` (2026-05 to 2026-11; stores came
with version 11.10), and the design of version 10.30 for ``superseded_by`` and ``memory_graph``. Vectors stay behind:
they are made anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memories.rules.importers.records import Foreign, Left, Record, Tie, given, moment_of, text_of, texts_of
from memories.rules.vocabulary import MemoryType, Relation

FIELDS: Mapping[str, str] = {
    "content_hash": "external_write_id",
    "content": "content",
    "tags": "tags",
    "memory_type": "type",
    "metadata": "extra",
    "created_at": "created_at",
    "created_at_iso": "created_at",
    "updated_at": "updated_at",
    "updated_at_iso": "updated_at",
    "superseded_by": "links",
    "store": "extra",
}
#: Columns read of ``memories``, as far as the file has them; and of ``memory_graph``.
COLUMNS = (*FIELDS, "deleted_at")
EDGES = ("source_hash", "target_hash", "relationship_type")
REQUIRED = ("content_hash", "content")
_ORDINARY_STORE = "default"
_TYPES = {
    "preference": MemoryType.PREFERENCE,
    "task": MemoryType.TASK,
    "todo": MemoryType.TASK,
    "skill": MemoryType.SKILL,
    "procedure": MemoryType.SKILL,
    "constraint": MemoryType.CONSTRAINT,
    "rule": MemoryType.CONSTRAINT,
    "event": MemoryType.EPISODIC,
    "observation": MemoryType.EPISODIC,
    "conversation": MemoryType.EPISODIC,
    "correction": MemoryType.CORRECTION,
}
_RELATIONS = {
    "contradicts": Relation.CONTRADICTS,
    "supports": Relation.SUPPORTS,
    "refines": Relation.REFINES,
    "derived_from": Relation.DERIVED_FROM,
}


def read_row(row: Mapping[str, Any]) -> Record:
    """One row of ``memories``."""
    key, content = text_of(row, "content_hash"), text_of(row, "content")
    if key is None or content is None:
        return Left("no_text", "has no text, or no content_hash", wanted=True)
    if row.get("deleted_at") is not None:
        return Left("deleted_there", "was deleted there")
    created = moment_of(row.get("created_at")) or moment_of(row.get("created_at_iso"))
    updated = moment_of(row.get("updated_at")) or moment_of(row.get("updated_at_iso")) or created
    memory_type = text_of(row, "memory_type")
    extra = _metadata(row.get("metadata"))
    if memory_type and memory_type not in _TYPES:
        extra.setdefault("memory_type", memory_type)
    if row.get("store") == _ORDINARY_STORE:
        row = {**row, "store": None}
    elif text_of(row, "store"):
        extra.setdefault("store", row["store"])
    values: dict[str, Any] = {
        "content": content,
        "type": _TYPES.get(memory_type or "", MemoryType.FACT),
        "tags": texts_of(row.get("tags")),
        "extra": extra,
        "created_at": created,
        "updated_at": updated,
    }
    if text_of(row, "superseded_by"):
        values |= {"archived_at": updated, "archived_reason": "superseded"}
    return Foreign(key, values, given(row, FIELDS))


def read_chain(row: Mapping[str, Any]) -> Tie | None:
    """Which memory took the place of this one."""
    key, successor = text_of(row, "content_hash"), text_of(row, "superseded_by")
    if key is None or successor is None or row.get("deleted_at") is not None:
        return None
    return Tie(successor, key, Relation.SUPERSEDES, is_chain=True)


def read_edge(row: Mapping[str, Any]) -> Tie | None:
    """One row of ``memory_graph``."""
    source, target = text_of(row, "source_hash"), text_of(row, "target_hash")
    if source is None or target is None:
        return None
    return Tie(source, target, _RELATIONS.get(str(row.get("relationship_type")), Relation.RELATED))


def _metadata(value: Any) -> dict[str, Any]:
    """A text of JSON; where it is none, the text itself is kept."""
    if not isinstance(value, str) or not value.strip():
        return {}
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return {"metadata": value}
    return found if isinstance(found, dict) else {"metadata": found}

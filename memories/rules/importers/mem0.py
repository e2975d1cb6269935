"""mem0: the answer of its REST list, and the backup of OpenMemory, its former self-hosted hub.

Read from mem0ai/mem0: ``server/main.py`` and ``mem0/memory/main.py`` of 2.2.1 (2026-09), and OpenMemory's
``routers/backup.py`` (removed from the repository on 2026-07-29).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from memories.rules.exchange import FileRefused
from memories.rules.importers.records import Foreign, Left, Record, given, moment_of, objects_of, text_of, texts_of
from memories.rules.mem0words import end_of
from memories.rules.vocabulary import Role

FIELDS: Mapping[str, str] = {
    "id": "external_write_id",
    "memory": "content",
    "content": "content",
    "user_id": "user_id",
    "agent_id": "agent_id",
    "app": "agent_id",
    "app_name": "agent_id",
    "run_id": "session_id",
    "role": "role",
    "categories": "tags",
    "metadata": "extra",
    "metadata_": "extra",
    "actor_id": "extra",
    "attributed_to": "extra",
    "created_at": "created_at",
    "updated_at": "updated_at",
    "expiration_date": "expires_at",
    "state": "archived_at",
}
#: What only its index needs; a list of everybody's memories has it among the metadata.
_OF_THE_INDEX = frozenset({"text_lemmatized", "role"})
_LISTS = ("results", "memories", "items")
_ROLES = {"user": Role.HUMAN, "assistant": Role.AI, "system": Role.SYSTEM, "tool": Role.TOOL}


def read_mem0(document: Any) -> Iterator[Record]:
    """The memories of a list or of a backup. Raises FileRefused for anything else."""
    if isinstance(document, dict):
        rows = next((document[name] for name in _LISTS if isinstance(document.get(name), list)), None)
        relations = objects_of(document.get("relations"))
    else:
        rows, relations = document if isinstance(document, list) else None, []
    if rows is None:
        raise FileRefused("This is no list of mem0's memories: there is no list under results, memories or items.")
    shared = _Shared(document if isinstance(document, dict) else {})
    for row in rows:
        yield _record(row, shared)
    for _ in relations:
        yield Left("graph_relation", "is a relation of the graph store, which says nothing by itself")


class _Shared:
    """What a backup says once for all its memories: whose they are, and the names of apps and categories."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        user = document.get("user")
        self.user_id = text_of(user, "user_id") if isinstance(user, dict) else None
        self.apps = _names(document.get("apps"))
        self.categories = _names(document.get("categories"))


def _names(rows: Any) -> dict[str, str]:
    found = [row for row in objects_of(rows) if isinstance(row, dict)]
    return {str(row["id"]): str(row["name"]) for row in found if row.get("id") and row.get("name")}


def _record(row: Any, shared: _Shared) -> Record:
    if not isinstance(row, dict):
        return Left("no_object", "is no object", wanted=True)
    content, key = text_of(row, "memory", "content", "text"), text_of(row, "id")
    if content is None or key is None:
        return Left("no_text", "has no text, or no id", wanted=True)
    if row.get("state") == "deleted" or row.get("deleted_at"):
        return Left("deleted_there", "was deleted there")
    at = moment_of(row.get("created_at"))
    values: dict[str, Any] = {
        "content": content,
        # A backup names its user by an id of its own database; the name people chose stands beside it.
        "user_id": shared.user_id or text_of(row, "user_id"),
        "agent_id": _agent(row, shared),
        "session_id": text_of(row, "run_id"),
        "role": _ROLES.get(str(row.get("role") or _metadata(row).get("role"))),
        "tags": _tags(row, shared),
        "extra": _extra(row),
        "created_at": at,
        "updated_at": moment_of(row.get("updated_at")) or at,
        "expires_at": _expiry(row.get("expiration_date")),
    }
    if row.get("state") in {"archived", "paused"} or row.get("archived_at"):
        values["archived_at"] = moment_of(row.get("archived_at")) or values["updated_at"]
        values["archived_reason"] = "paused in OpenMemory" if row.get("state") == "paused" else "archived in OpenMemory"
    return Foreign(key, values, given(row, FIELDS))


def _agent(row: Mapping[str, Any], shared: _Shared) -> str | None:
    return text_of(row, "agent_id", "app", "app_name") or shared.apps.get(str(row.get("app_id")))


def _tags(row: Mapping[str, Any], shared: _Shared) -> list[str]:
    named = texts_of(row.get("categories"))
    return named + [shared.categories[key] for key in texts_of(row.get("category_ids")) if key in shared.categories]


def _extra(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in _metadata(row).items() if name not in _OF_THE_INDEX}
    for name in ("actor_id", "attributed_to"):
        if text_of(row, name):
            kept.setdefault(name, row[name])
    return kept


def _metadata(row: Mapping[str, Any]) -> Mapping[str, Any]:
    extra = row.get("metadata") or row.get("metadata_")
    return extra if isinstance(extra, dict) else {}


def _expiry(value: Any) -> str | None:
    """A day without a time is the last one on which the memory holds."""
    moment = moment_of(value)
    if moment is None or not isinstance(value, str) or len(value.strip()) > len("2026-11-22"):
        return moment
    return moment_of(str(end_of(dt.date.fromisoformat(value.strip()))))

"""LangMem and LangGraph: the items of a store, as ``Item.dict()`` and the platform's search answer write them.

Read from langchain-ai/langgraph, ``langgraph/store/base`` (``Item``), and langchain-ai/langmem (2026-06): a memory is
 ``{"kind": "Memory", "content": {"content": "…"}}``, or whatever schema the application chose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memories.rules.exchange import FileRefused
from memories.rules.importers.records import Foreign, Left, Record, given, moment_of, text_of
from memories.rules.limits import NAMESPACE_PARTS_MAX
from memories.rules.vocabulary import MemoryCategory, MemoryType

FIELDS: Mapping[str, str] = {
    "key": "external_write_id",
    "namespace": "namespace",
    "value": "content",
    "created_at": "created_at",
    "updated_at": "updated_at",
}
_TEXTS = ("content", "text", "memory", "fact")
_KINDS = {
    "episode": (MemoryType.EPISODIC, None),
    "userprofile": (MemoryType.FACT, MemoryCategory.USER_PROFILE),
    "profile": (MemoryType.FACT, MemoryCategory.USER_PROFILE),
    "procedure": (MemoryType.SKILL, None),
    "preference": (MemoryType.PREFERENCE, None),
}


def read_store(document: Any) -> Iterator[Record]:
    """The items of a store. Raises FileRefused for anything else."""
    items = document.get("items") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise FileRefused("This is no list of a LangGraph store's items; write [item.dict() for item in …] as JSON.")
    for item in items:
        yield _record(item)


def _record(item: Any) -> Record:
    if not isinstance(item, dict) or text_of(item, "key") is None:
        return Left("no_object", "is no item with a key", wanted=True)
    namespace = _namespace(item.get("namespace"))
    if namespace is None:
        return Left("no_namespace", "has no namespace", wanted=True)
    value = item.get("value")
    content = said_by(value)
    if content is None:
        return Left("no_text", "says nothing", wanted=True)
    kind = str(value.get("kind", "")).lower() if isinstance(value, dict) else ""
    memory_type, category = _KINDS.get(kind, (MemoryType.FACT, None))
    created = moment_of(item.get("created_at"))
    values = {
        "content": content,
        "type": memory_type,
        "category": category,
        "namespace": namespace,
        "extra": {} if _is_plain(value) else {"value": value},
        "created_at": created,
        "updated_at": moment_of(item.get("updated_at")) or created,
    }
    return Foreign("/".join([*namespace, str(item["key"])]), values, given(item, FIELDS))


def said_by(value: Any) -> str | None:
    """The text of a value: its own, that of its content, or every field of a schema on a line of its own."""
    if isinstance(value, str):
        return value if value.strip() else None
    if not isinstance(value, dict):
        return None
    inner = value.get("content")
    if isinstance(inner, dict):
        return said_by(inner)
    text = text_of(value, *_TEXTS)
    if text is not None:
        return text
    rows = [f"{name}: {_short(part)}" for name, part in value.items() if part not in (None, "", [], {})]
    return "\n".join(row for row in rows if not row.startswith("kind: ")) or None


def _short(part: Any) -> str:
    if isinstance(part, list):
        return ", ".join(map(_short, part))
    if isinstance(part, dict):
        return ", ".join(f"{name} {_short(inner)}" for name, inner in part.items())
    return str(part)


def _is_plain(value: Any) -> bool:
    """Whether the text is all it says."""
    if not isinstance(value, dict):
        return True
    inner = value.get("content")
    others = set(value) - {"kind", "content"}
    return not others and (isinstance(inner, str) or (isinstance(inner, dict) and set(inner) == {"content"}))


def _namespace(value: Any) -> list[str] | None:
    """At most four parts; what is deeper stays in the last one."""
    parts = value.split(".") if isinstance(value, str) else value
    if not isinstance(parts, list) or not parts or not all(isinstance(part, str) and part for part in parts):
        return None
    most = NAMESPACE_PARTS_MAX
    return parts if len(parts) <= most else [*parts[: most - 1], "/".join(parts[most - 1 :])]

"""Letta: memory blocks and archival passages as JSON, alone or in an agent file (``.af``).

Read from the AgentFile documentation and the block schema of docs.letta.com (2026). Folders of Markdown, which Letta
Code keeps instead since the server was retired, are read as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memories.rules.exchange import FileRefused
from memories.rules.importers.records import Foreign, Left, Record, given, moment_of, objects_of, text_of, texts_of
from memories.rules.vocabulary import MemoryCategory

FIELDS: Mapping[str, str] = {
    "id": "external_write_id",
    "label": "fact_key",
    "value": "content",
    "text": "content",
    "description": "extra",
    "metadata": "extra",
    "tags": "tags",
    "created_at": "created_at",
    "updated_at": "updated_at",
}


def read_letta(document: Any) -> Iterator[Record]:
    """The blocks and passages of an agent file or of a list. Raises FileRefused for anything else."""
    rows = document if isinstance(document, list) else None
    if isinstance(document, dict):
        named = [document.get(name) for name in ("blocks", "core_memory", "passages", "archival_memory")]
        rows = [row for rows in named if isinstance(rows, list) for row in rows]
        rows = rows if any(isinstance(one, list) for one in named) else None
    if rows is None:
        raise FileRefused("This is no list of Letta's blocks or passages, nor an agent file that has some.")
    for row in rows:
        yield _record(row)
    if isinstance(document, dict):
        for agent in objects_of(document.get("agents")):
            if isinstance(agent, dict) and agent.get("messages"):
                yield Left("messages", "holds the turns of an agent, which are no memories")


def _record(row: Any) -> Record:
    content = text_of(row, "value", "text") if isinstance(row, dict) else None
    if content is None:
        return Left("no_text", "is no block or passage with a text", wanted=True)
    label = text_of(row, "label")
    key = text_of(row, "id") or label
    if key is None:
        return Left("no_id", "has neither an id nor a label", wanted=True)
    metadata = row.get("metadata") or row.get("metadata_")
    extra = dict(metadata) if isinstance(metadata, dict) else {}
    if text_of(row, "description"):
        extra["description"] = row["description"]
    at = moment_of(row.get("created_at"))
    values = {
        "content": content,
        "category": MemoryCategory.USER_PROFILE if label == "human" else None,
        "fact_key": label,
        "tags": texts_of(row.get("tags")),
        "extra": extra,
        "created_at": at,
        "updated_at": moment_of(row.get("updated_at")) or at,
    }
    return Foreign(key, values, given(row, FIELDS))

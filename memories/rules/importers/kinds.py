"""The programs whose files can be imported, how their files are told apart, and what becomes of their fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from memories.rules.exchange import FORMAT
from memories.rules.importers import hindsight, langmem, letta, markdown, mcpmemory, mem0
from memories.rules.importers.records import Record


class ImportKind(StrEnum):
    """Whose file it is."""

    MEMORYHUB = "memoryhub"
    MEM0 = "mem0"
    HINDSIGHT = "hindsight"
    MCP_MEMORY_SERVICE = "mcp-memory-service"
    LANGMEM = "langmem"
    LETTA = "letta"
    MARKDOWN = "markdown"


TITLES: Mapping[ImportKind, str] = MappingProxyType(
    {
        ImportKind.MEMORYHUB: "An export of this hub (JSON lines)",
        ImportKind.MEM0: "mem0 or OpenMemory (JSON or backup zip)",
        ImportKind.HINDSIGHT: "hindsight (bank transfer zip)",
        ImportKind.MCP_MEMORY_SERVICE: "mcp-memory-service (SQLite file)",
        ImportKind.LANGMEM: "LangMem or a LangGraph store (JSON)",
        ImportKind.LETTA: "Letta (blocks as JSON, agent file, or zip of Markdown)",
        ImportKind.MARKDOWN: "Markdown notes (one file, or a zip of a folder)",
    }
)
FIELDS: Mapping[ImportKind, Mapping[str, str]] = MappingProxyType(
    {
        ImportKind.MEM0: mem0.FIELDS,
        ImportKind.HINDSIGHT: hindsight.FIELDS,
        ImportKind.MCP_MEMORY_SERVICE: mcpmemory.FIELDS,
        ImportKind.LANGMEM: langmem.FIELDS,
        ImportKind.LETTA: {**letta.FIELDS, **markdown.FIELDS},
        ImportKind.MARKDOWN: markdown.FIELDS,
    }
)
#: Those whose file is one document of JSON.
READERS: Mapping[ImportKind, Callable[[Any], Iterator[Record]]] = MappingProxyType(
    {ImportKind.MEM0: mem0.read_mem0, ImportKind.LANGMEM: langmem.read_store, ImportKind.LETTA: letta.read_letta}
)
UNKNOWN = (
    "The first line is not the header of an exported vault, and the file is of no other program this hub reads; "
    "say which one it is from, or choose another file."
)
#: Before the job has looked into a file.
NOT_LOOKED_INTO = "auto"
#: Beginnings of a file that say what it is.
SQLITE, ZIP, GZIP = b"SQLite format 3\0", b"PK\x03\x04", b"\x1f\x8b"
_PAGES = (".md", ".markdown")


def is_page(name: str) -> bool:
    """Whether a file is Markdown by its name."""
    return name.lower().endswith(_PAGES)


def is_export(head: bytes) -> bool:
    """Whether a file begins as an export of a hub does."""
    return head.lstrip().startswith(b"{") and FORMAT.encode() in head.split(b"\n", 1)[0][:4096]


def kind_by_name(name: str, head: bytes) -> ImportKind | None:
    """What a file is by its first bytes and its name, where they say so; a zip and JSON have to be looked into."""
    if is_export(head):
        return ImportKind.MEMORYHUB
    if head.startswith(SQLITE):
        return ImportKind.MCP_MEMORY_SERVICE
    if is_page(name) and not head.startswith((ZIP, GZIP)):
        return ImportKind.MARKDOWN
    return ImportKind.LETTA if name.lower().endswith(".af") else None


def kind_of_members(names: Collection[str]) -> ImportKind | None:
    """What a zip is by what is in it."""
    last = {name.rsplit("/", 1)[-1] for name in names}
    if "manifest.json" in names and any(name.startswith("documents/") for name in names):
        return ImportKind.HINDSIGHT
    if last & {"memories.json", "memories.jsonl.gz"}:
        return ImportKind.MEM0
    return ImportKind.MARKDOWN if any(map(is_page, names)) else None


def kind_of_document(document: Any) -> ImportKind | None:
    """What a document of JSON is by the first thing in it."""
    rows = document if isinstance(document, list) else None
    if isinstance(document, dict):
        if any(isinstance(document.get(name), list) for name in ("blocks", "core_memory", "passages", "agents")):
            return ImportKind.LETTA
        lists = [document[name] for name in ("results", "memories", "items") if isinstance(document.get(name), list)]
        rows = lists[0] if lists else None
    first = next((row for row in rows or [] if isinstance(row, dict)), {})
    if {"namespace", "key", "value"} <= first.keys():
        return ImportKind.LANGMEM
    if "memory" in first or ("content" in first and "id" in first):
        return ImportKind.MEM0
    return ImportKind.LETTA if {"label", "value"} <= first.keys() or {"id", "text"} <= first.keys() else None


def title_of(kind: str) -> str:
    """For a person, also of a file nobody has looked into yet."""
    return TITLES[ImportKind(kind)] if kind != NOT_LOOKED_INTO else "A file of another program"


def contradiction(kind: ImportKind | None, name: str, head: bytes) -> str | None:
    """Why a file that begins so cannot be what it is said to be; only what its first bytes show."""
    packed = head.startswith((ZIP, GZIP))
    starts = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not head.strip():
        return "The file is empty; choose another one."
    if kind is None:
        known = kind_by_name(name, head) is not None or packed or starts in {b"[", b"{"}
        return None if known else UNKNOWN
    if kind == ImportKind.MCP_MEMORY_SERVICE and not head.startswith(SQLITE):
        return "The file is no SQLite file; it is the one mcp-memory-service keeps (sqlite_vec.db)."
    if kind == ImportKind.HINDSIGHT and not head.startswith(ZIP):
        return "The file is no zip; hindsight's transfer is one."
    if kind != ImportKind.MCP_MEMORY_SERVICE and head.startswith(SQLITE):
        return "The file is a SQLite file; only mcp-memory-service keeps one."
    if kind in READERS and not packed and starts not in {b"[", b"{"} and not is_page(name):
        return "The file is no JSON, which such a file is; export it again, or say from the list whose it is."
    return None

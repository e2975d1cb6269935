"""A vault as lines of JSON: what an export writes, and what an import makes of each line.

The first line is the header, the last the trailer; between them one object a line, told apart by ``kind``. Ids of a
file become ids of the vault by a fixed rule, so that a file imported twice, or after a crash, meets its own work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field, StrictBool

from memories.rules import limits
from memories.rules.drafts import Label, MemoryDraft, Moment, Namespace, Reason
from memories.rules.vocabulary import Relation, Role, Status, Trust
from memoryhub.lib.errors import FieldError, HubError, Invalid, Malformed
from memoryhub.lib.strict import StrictModel
from memoryhub.lib.strictjson import parse

FORMAT, VERSION = "memoryhub-export", 1
#: Longer than any memory the hub takes, written with six bytes a character.
LINE_BYTES_MAX = 1024 * 1024
IMPORTED_KINDS = ("bank", "memory", "link", "session", "message")
#: In a file for people and other programs; an import leaves them out.
OTHER_KINDS = ("agent", "setting", "revision")
#: Half of what a column holds: whatever a file says, there is room to count on.
COUNT_MAX = 2**30
Count = Annotated[int, Field(ge=0, le=COUNT_MAX, strict=True)]


class FileRefused(Invalid):
    """The file is no export of a vault, or not all of one; nothing was imported."""

    code = "import_refused"


class Header(StrictModel):
    """The first line."""

    kind: Literal["header"]
    format: Label
    version: Count
    exported_at: Moment
    vault: dict[str, Any]
    counts: dict[str, Any]


class Trailer(StrictModel):
    """The last line: how many lines came before it, and the SHA-256 of them."""

    kind: Literal["trailer"]
    lines: Count
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class BankLine(StrictModel):
    """A bank, known by its name."""

    kind: Literal["bank"]
    id: UUID
    name: Annotated[str, Field(min_length=1, max_length=50)]
    description: Annotated[str, Field(max_length=500)] = ""
    is_default: StrictBool = False
    is_hidden: StrictBool = False


class MemoryLine(MemoryDraft):
    """A memory: every write field, and what became of it since."""

    aliases: ClassVar[Mapping[str, str]] = {}

    kind: Literal["memory"]
    id: UUID
    created_at: Moment
    updated_at: Moment
    trust: Trust
    archived_at: Moment | None = None
    archived_reason: Reason | None = None
    superseded_by: UUID | None = None
    is_summarized: StrictBool = False
    summarized_from: Annotated[list[UUID], Field(max_length=limits.BATCH_MAX)] = []
    version: Annotated[int, Field(ge=1, le=COUNT_MAX, strict=True)] = 1
    last_confirmed_at: Moment | None = None
    last_accessed_at: Moment | None = None
    access_count: Count = 0

    @property
    def is_live(self) -> bool:
        """Whether it competes with others for its text."""
        return self.archived_at is None and self.superseded_by is None and self.status != Status.DISCARD


class LinkLine(StrictModel):
    """``is_chain``: the target is superseded by the source, not merely promised to be."""

    kind: Literal["link"]
    id: UUID
    source: UUID
    target: UUID
    relation: Relation
    is_chain: StrictBool = False
    created_at: Moment


class SessionLine(StrictModel):
    """A conversation, known by the caller's name of it."""

    kind: Literal["session"]
    id: UUID
    sid: Label
    namespace: Namespace
    user_id: Label | None = None
    agent_id: Label | None = None
    task_id: Label | None = None
    last_number: Count
    extracted_through: Count
    summarized_through: Count
    summary: Annotated[str, Field(max_length=limits.CONTENT_MAX)] | None = None
    first_message_at: Moment | None = None
    last_message_at: Moment | None = None
    created_at: Moment


class MessageLine(StrictModel):
    """One turn of a conversation."""

    kind: Literal["message"]
    id: UUID
    session: UUID
    number: Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)]
    external_id: Label | None = None
    agent_id: Label | None = None
    role: Role
    content: Annotated[str, Field(max_length=limits.CONTENT_MAX)]
    tool_calls: Annotated[list[dict[str, Any]], Field(max_length=limits.TOOL_CALLS_MAX)] | None = None
    tool_call_id: Label | None = None
    tool_name: Label | None = None
    is_error: StrictBool = False
    tokens: Count
    is_silent: StrictBool = False
    is_saved: StrictBool = False
    created_at: Moment


class UnmappedLine(StrictModel):
    """A record of another program that became no memory, and why; not ``wanted``: it was left out on purpose."""

    kind: Literal["unmapped"]
    code: Label
    detail: Reason
    wanted: StrictBool = True


type Line = BankLine | MemoryLine | LinkLine | SessionLine | MessageLine
LINES: Mapping[str, type[Line]] = {
    "bank": BankLine,
    "memory": MemoryLine,
    "link": LinkLine,
    "session": SessionLine,
    "message": MessageLine,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """One line that was not taken; ``detail`` never quotes it."""

    line: int
    code: str
    detail: str
    wanted: bool = True


def written(line: Mapping[str, Any]) -> bytes:
    """One line of a file, with its line break."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).encode() + b"\n"


def parse_header(line: bytes) -> Header:
    """The header. Raises FileRefused in one sentence."""
    if line[:2] == b"\x1f\x8b":
        raise FileRefused("The file is compressed; unpack it first (gunzip), then import it.")
    try:
        found: Any = parse(line)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FileRefused("The first line is not the header of an exported vault; nothing was imported.")
        if found.get("version") != VERSION:
            raise FileRefused("The file was exported by a newer release; install that release and import again.")
        return Header.parse(found)
    except FileRefused:
        raise
    except HubError:
        raise FileRefused("The first line is not the header of an exported vault; nothing was imported.") from None


def parse_trailer(line: bytes) -> Trailer | None:
    """The trailer, or None for a line that is none."""
    if not line.startswith(b'{"kind":"trailer"'):
        return None
    try:
        return Trailer.parse(parse(line))
    except HubError:
        return None


def parse_line(number: int, line: bytes) -> Line | Refusal | None:
    """What a line says, why it is refused, or None for a kind that an import leaves out."""
    if len(line) > LINE_BYTES_MAX:
        return Refusal(number, "too_long", f"has more than {LINE_BYTES_MAX} bytes")
    try:
        found: Any = parse(line)
        if not isinstance(found, dict):
            return Refusal(number, "no_object", "is not a JSON object")
        kind = found.get("kind")
        if kind in OTHER_KINDS:
            return None
        if kind == "unmapped":
            left = UnmappedLine.parse(found)
            return Refusal(number, left.code, left.detail, left.wanted)
        if not isinstance(kind, str) or kind not in LINES:
            return Refusal(number, "unknown_kind", f"its `kind` is none of {', '.join(IMPORTED_KINDS)}")
        return LINES[kind].parse(found)
    except HubError as error:
        return refused(number, error)


def refused(number: int, error: HubError) -> Refusal:
    """A refusal as a line of the report: pointers, codes and the hub's own words only."""
    items: list[FieldError] = list(error.errors)
    said = "; ".join(f"{item.pointer}: {item.detail}" for item in items[:3])
    return Refusal(number, items[0].code if items else error.code, said or error.message)


def id_in(vault_id: UUID, source: UUID) -> UUID:
    """The id that ``source`` of a file gets in a vault: always the same one, and never one that is used elsewhere.

    Its first 48 bits, the time of a UUIDv7, stay, so that imported ids sort as they did.
    """
    tail = hashlib.sha256(b"memoryhub import\0" + vault_id.bytes + source.bytes).digest()
    mixed = bytearray(source.bytes[:6] + tail[:10])
    mixed[6] = mixed[6] & 0x0F | 0x80  # version 8: an id of our own making
    mixed[8] = mixed[8] & 0x3F | 0x80
    return UUID(bytes=bytes(mixed))


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """What is wrong with the file, as one FileRefused."""
    try:
        yield
    except FileRefused:
        raise
    except OSError as error:
        raise FileRefused(f"The file cannot be read: {error.strerror or type(error).__name__}.") from None
    except (Invalid, Malformed) as error:
        said: Mapping[str, str] = {item.code: item.detail for item in error.errors}
        why = "; ".join(said.values())
        raise FileRefused(f"The file cannot be read: it {why}." if why else error.message) from None

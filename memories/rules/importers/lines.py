"""Records of another program as the lines of an import: a header, one line for each record, their ties, a trailer.

Record n of the file is line n + 1, so that what the check says of a line can be found in the file it came from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic_core import PydanticCustomError

from memories.rules import limits
from memories.rules.exchange import FORMAT, VERSION, MemoryLine, refused, written
from memories.rules.importers.kinds import FIELDS, ImportKind
from memories.rules.importers.records import FieldCount, Foreign, Left, Record, Tie
from memories.rules.vocabulary import Relation, SourceKind, Trust
from memoryhub.lib.errors import HubError
from memoryhub.lib.strict import refuse_unstorable

#: What a memory can do without, rather than staying behind whole.
_SPARE = frozenset({"extra", "tags", "entities", "category", "role", "fact_key", "event_at", "expires_at"})
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Placing:
    """Where the memories go: bank and namespace, else the default and theirs; ``at``: for those that name no date."""

    at: str
    bank: str | None = None
    namespace: tuple[str, ...] | None = None


class Conversion:
    """The lines of one file, and what became of each of its fields: whole once the lines were read to the end."""

    def __init__(self, kind: ImportKind, placing: Placing) -> None:
        self.kind, self.placing = kind, placing
        self._fields = {there: FieldCount(there, here) for there, here in FIELDS[kind].items()}
        self._ids: dict[str, UUID] = {}
        self._ties: list[Tie] = []

    @property
    def mapping(self) -> list[dict[str, Any]]:
        """The fields that were there, what they became, how often, and where not all of it was kept."""
        used = [one for one in self._fields.values() if one.count]
        return [
            {"there": one.there, "here": one.here, "count": one.count, "lost": one.lost, "examples": one.examples}
            for one in used
        ]

    def lines(self, records: Iterable[Record]) -> Iterator[bytes]:
        """Every line with its line break."""
        digest, count = hashlib.sha256(), 0
        for line in self._lines(records):
            digest.update(line)
            count += 1
            yield line
        yield written({"kind": "trailer", "lines": count, "sha256": digest.hexdigest()})

    def _lines(self, records: Iterable[Record]) -> Iterator[bytes]:
        vault = {"id": str(_id_of(self.kind, "")), "name": self.kind.value}
        yield written(
            {
                "kind": "header",
                "format": FORMAT,
                "version": VERSION,
                "exported_at": self.placing.at,
                "vault": vault,
                "counts": {},
            }
        )
        number = 0
        for record in records:
            if isinstance(record, Tie):
                self._ties.append(record)
                continue
            number += 1
            yield self._line(number, record)
        yield from self._links()

    def _line(self, number: int, record: Foreign | Left) -> bytes:
        found = self._memory(number, record) if isinstance(record, Foreign) else record
        if isinstance(found, Left):
            detail = found.detail[: limits.REASON_MAX]
            return written({"kind": "unmapped", "code": found.code, "detail": detail, "wanted": found.wanted})
        return written(found)

    def _memory(self, number: int, record: Foreign) -> dict[str, Any] | Left:
        line, lost = self._filled(record)
        for _ in range(2):
            try:
                MemoryLine.parse(line)
                break
            except HubError as error:
                wrong = {item.pointer.strip("/").split("/")[0] for item in error.errors} - {""} | _unstorable(line)
                if not wrong or not wrong <= _SPARE:
                    refusal = refused(number, error)
                    return Left(refusal.code, refusal.detail, wanted=True)
                lost |= wrong
                line = {name: value for name, value in line.items() if name not in wrong}
        self._count(number, record.uses, lost)
        self._ids.setdefault(record.key, UUID(line["id"]))
        return line

    def _filled(self, record: Foreign) -> tuple[dict[str, Any], set[str]]:
        """Every field a line has to have, and those of which something was cut off."""
        values = {name: value for name, value in record.values.items() if value is not None}
        tags, fewer_tags = _names(values.get("tags", ()), limits.TAGS_MAX, limits.TAG_MAX)
        entities, fewer_entities = _names(values.get("entities", ()), limits.ENTITIES_MAX, limits.ENTITY_MAX)
        at = values.get("created_at") or self.placing.at
        line = {
            "kind": "memory",
            "id": str(_id_of(self.kind, record.key)),
            **values,
            "tags": tags,
            "entities": entities,
            "bank": self.placing.bank,
            "namespace": list(self.placing.namespace or values.get("namespace") or ["default"]),
            "created_at": at,
            "updated_at": values.get("updated_at") or at,
            "trust": Trust.UNTRUSTED.value,
            "source_kind": SourceKind.IMPORT.value,
            "external_write_id": _external_id(self.kind, record.key),
        }
        return line, {name for name, fewer in (("tags", fewer_tags), ("entities", fewer_entities)) if fewer}

    def _count(self, number: int, uses: Iterable[str], lost: Iterable[str]) -> None:
        for there in uses:
            one = self._fields[there]
            one.count += 1
            if one.here in lost:
                one.lost += 1
                if len(one.examples) < _EXAMPLES:
                    one.examples.append(number)

    def _links(self) -> Iterator[bytes]:
        for tie in dict.fromkeys(self._ties):
            source, target = self._ids.get(tie.source), self._ids.get(tie.target)
            if source is None or target is None or source == target:
                continue
            yield written(
                {
                    "kind": "link",
                    "id": str(_id_of(self.kind, f"{tie.source}\n{tie.target}\n{tie.relation}")),
                    "source": str(source),
                    "target": str(target),
                    "relation": Relation(tie.relation).value,
                    "is_chain": tie.is_chain,
                    "created_at": self.placing.at,
                }
            )


def digest_of(kind: ImportKind, placing: Mapping[str, Any], content: bytes) -> str:
    """By which a file that is sent again is known."""
    said = repr((kind.value, sorted(placing.items()))).encode()
    return hashlib.sha256(said + b"\0" + content).hexdigest()


def _unstorable(line: Mapping[str, Any]) -> set[str]:
    """The fields that hold what no column could, which is said of the whole line only."""
    found = set()
    for name, value in line.items():
        try:
            refuse_unstorable(value)
        except PydanticCustomError:
            found.add(name)
    return found


def _names(values: Iterable[str], most: int, longest: int) -> tuple[list[str], bool]:
    """The first of them, each cut to what fits, and whether anything was cut off."""
    every = list(dict.fromkeys(values))
    kept = list(dict.fromkeys(value[:longest].strip() for value in every[:most]))
    return kept, kept != every


def _external_id(kind: ImportKind, key: str) -> str:
    named = f"{kind.value}:{key}"
    if len(named) <= limits.LABEL_MAX:
        return named
    return f"{kind.value}:sha256:{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()}"


def _id_of(kind: ImportKind, key: str) -> UUID:
    """The same id whenever the same record is read."""
    tail = hashlib.sha256(f"memoryhub import\0{kind.value}\0{key}".encode("utf-8", "replace")).digest()
    return UUID(bytes=tail[:16])

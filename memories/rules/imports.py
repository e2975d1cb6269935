"""What an import may do, and how it counts what it met and made."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StrictBool

from memories.rules.drafts import Namespace
from memories.rules.exchange import Refusal
from memories.rules.importers.kinds import ImportKind
from memories.rules.limits import LABEL_MAX
from memoryhub.lib.strict import StrictModel

#: So many refused lines are kept with their reasons; the others are counted.
REFUSALS_KEPT = 200
#: What fits into one row of the staging table.
CHUNK_LINES, CHUNK_BYTES = 500, 1024 * 1024
#: Pieces of a file as it came have numbers behind those of any lines.
RAW_FROM = 2**30


class ImportOptions(StrictModel):
    """How a file is read. Without a choice nothing is written, nothing here is changed, and nothing is believed.

    ``dedup`` compares by meaning as any write does; without it only equal texts are recognised. ``update`` lets the
    file overwrite memories that are here and say something else. ``keep_provenance`` keeps source and trust.
    """

    dry_run: StrictBool = True
    dedup: StrictBool = False
    update: StrictBool = False
    keep_provenance: StrictBool = False


class FileWish(StrictModel):
    """Whose file it is, where that is known, and where its memories go."""

    name: Annotated[str, Field(min_length=1, max_length=LABEL_MAX)] = "file"
    kind: ImportKind | None = None
    bank: Annotated[str, Field(min_length=1, max_length=50)] | None = None
    namespace: Namespace | None = None


class Found(StrEnum):
    """What a line is to the vault."""

    NEW = "new"
    SAME = "same"
    CHANGED = "changed"
    REFUSED = "refused"
    #: Here and changed to what the file says.
    UPDATED = "updated"
    #: What depends on memories that are not here yet is only read by a check.
    READ = "read"
    #: Of a kind that no import takes.
    LEFT_OUT = "left_out"


class Tally:
    """Lines by kind and by what they were found to be, with the first refusals."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]] | None = None, refused: Any = None) -> None:
        self.counts: dict[str, dict[str, int]] = {kind: dict(found) for kind, found in (counts or {}).items()}
        self.refused: list[dict[str, Any]] = list(refused or [])

    def copy(self) -> Tally:
        """The same counts, to be counted on."""
        return Tally(self.counts, self.refused)

    def add(self, kind: str, found: str, count: int = 1) -> None:
        """So many more lines of a kind."""
        if count:
            kinds = self.counts.setdefault(kind, {})
            kinds[found] = kinds.get(found, 0) + count

    def refuse(self, kind: str, refusal: Refusal) -> None:
        """One line more that is not taken, or was left out on purpose."""
        self.add(kind, Found.REFUSED if refusal.wanted else Found.LEFT_OUT)
        if len(self.refused) < REFUSALS_KEPT:
            self.refused.append({"line": refusal.line, "code": refusal.code, "detail": refusal.detail})

    def total(self, found: str) -> int:
        """How many lines of all kinds."""
        return sum(counts.get(found, 0) for counts in self.counts.values())

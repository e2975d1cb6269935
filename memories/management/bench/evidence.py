"""A file of conversations with questions, written through the services into vaults of its own, to ask them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from banks.access import Access, system_access
from banks.services.vaults import create_vault
from memories.management.bench.client import BenchFailed
from memories.management.reading import read_json
from memories.models import Memory
from memories.rules.conversations import Conversation, ImportChoices, read_conversations
from memories.services.conversations import import_conversations
from memoryhub.lib.ids import new_id, short_id

#: LoCoMo's kinds of questions; a file may name its own. The last is apart: its questions have no answer.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, where it is asked, and the turns that hold its answer."""

    access: Access
    conversation: str
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Examination:
    """All questions of a file, and every written memory's turn: conversation and turn, as in the file."""

    name: str
    questions: Sequence[Asked]
    turns: Mapping[UUID, str]
    conversations: Mapping[str, Conversation]


def write_examination(path: Path, *, together: bool, advance: Callable[[int], None]) -> Examination:
    """Write the file's turns, every conversation into a vault of its own or all into one. Raises BenchFailed."""
    document = read_json(path)
    conversations = {one.id: one for one in read_conversations(document)}
    shared = _vault(path.stem) if together else None
    turns: dict[UUID, str] = {}
    questions: list[Asked] = []
    names = {number: name for name, number in document.get("categories", {}).items()} or CATEGORIES
    for raw in document["conversations"]:
        access = shared or _vault(raw["id"])
        report = import_conversations(access, [conversations[raw["id"]]], ImportChoices(), advance)
        if report.failed:
            raise BenchFailed(f"A turn could not be written: {report.failed[0]}")
        written = Memory.objects.in_vault(access.vault_id).values_list("pk", "external_write_id")
        turns |= {memory_id: str(turn) for memory_id, turn in written}
        questions += [
            _question(access, raw["id"], each, names) for each in raw.get("questions", []) if each["evidence"]
        ]
    return Examination(path.stem, questions, turns, conversations)


def _question(access: Access, conversation: str, raw: Mapping[str, Any], names: Mapping[int, str]) -> Asked:
    evidence = frozenset(f"{conversation}:{turn}" for turn in raw["evidence"])
    return Asked(access, conversation, raw["question"], names[raw["category"]], evidence)


def _vault(name: str) -> Access:
    return system_access(create_vault(f"bench {name} {short_id(new_id())}").pk, "bench recall")

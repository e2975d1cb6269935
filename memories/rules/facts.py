"""One thing found out about somebody, whoever found it, and whether it is kept (CON-03, EXT-10, EXT-12, EXT-19)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import MemoryCategory, MemoryType, Role, SourceKind, Status

FACT_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Fact:
    """In the third person; ``sources`` are the numbers of the messages it was found in."""

    text: str
    key: str | None = None
    importance: int = 3
    confidence: int = 4
    bank: str | None = None
    type: MemoryType = MemoryType.FACT
    category: MemoryCategory | None = MemoryCategory.USER_PROFILE
    sources: tuple[int, ...] = ()
    #: Said to put something right: "no, I am a teacher".
    corrects: bool = False


class Verdict(StrEnum):
    """What becomes of a fact."""

    ACCEPTED = "accepted"
    DRAFT = "draft"
    DOUBTFUL = "doubtful"
    REFUSED = "refused"
    OUTDATED = "outdated"

    @property
    def status(self) -> Status | None:
        """The status it is written with; None when it is not written."""
        return {Verdict.ACCEPTED: Status.ACCEPTED, Verdict.DRAFT: Status.DRAFT}.get(self)


# What a conversation must never be able to plant: leave to do something, secrets, orders to whoever reads it later.
_AUTHORITY = re.compile(
    r"\b(?:permi(?:ssion|tted)|authori[sz](?:ed|ation)|allowed to|entitled to|privileges?"
    r"|(?:is|are|am|be) (?:the |an )?admin(?:istrator)?s?|admin (?:rights|access)|root access|sudo"
    r"|without (?:review|approval|asking|confirmation)"
    r"|(?:may|can) (?:push|deploy|delete|merge|approve|access|bypass|override|transfer|pay|spend|sign)|approv(?:e|es"
    r"|ed) (?:all|every|any)|trusted source)\b",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\b(?:pass(?:word|code|phrase)|api[ _-]?keys?|secret (?:key|token)|access token|private key|credentials?|bearer"
    r"|pin(?: code)? is|(?<!zip )(?<!post )(?<!postal )(?<!area )"
    r"(?:code|pin|combination)(?: (?:is|number|no))*[ :#]*\d{3,}"
    r"|cvv|card number|social security)\b|\b(?:sk|ghp|mh_live)[-_][A-Za-z0-9]{8,}|-----BEGIN ",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any |the )*(?:previous|prior|earlier|above|other|instructions?)"
    r"|\bsystem prompt\b|\b(?:assistant|agents?|ai|model|you) (?:must|should|shall|has to|have to|is to|are to|will) "
    r"|^(?:always|never) (?!been|had|was)|\binstructions?\b",
    re.IGNORECASE,
)


_PLANTED = {"permission": _AUTHORITY, "secret": _SECRET, "order": _ORDER}


def is_planted(text: str) -> bool:
    """Whether a fact claims authority, holds a secret or gives orders: such a thing is never remembered (EXT-19)."""
    return planted_as(text) is not None


def planted_as(text: str) -> str | None:
    """Which of these it is: permission, secret or order."""
    return next((name for name, pattern in _PLANTED.items() if pattern.search(text)), None)


def reason_of(fact: Fact, verdict: Verdict) -> str | None:
    """Why it is not written: permission, secret, order, doubtful or outdated; None for what is."""
    if verdict.status is not None:
        return None
    return planted_as(fact.text) or verdict.value if verdict is Verdict.REFUSED else verdict.value


def verdict_of(fact: Fact) -> Verdict:
    """Sure enough (4, 5) is accepted, 3 waits for a person, less is dropped; what was planted is refused (CON-03)."""
    if is_planted(fact.text):
        return Verdict.REFUSED
    if fact.confidence <= 2:
        return Verdict.DOUBTFUL
    return Verdict.DRAFT if fact.confidence == 3 else Verdict.ACCEPTED


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose conversation a fact is from, and the ids of its messages by number."""

    session_id: str
    namespace: list[str]
    user_id: str | None = None
    agent_id: str | None = None
    task_id: str | None = None
    messages: dict[int, UUID] = field(default_factory=dict)


def draft_of(fact: Fact, origin: Origin, status: Status, source_kind: SourceKind) -> MemoryDraft:
    """The write a fact becomes: the same a caller would send, with where it was found."""
    found_in = [str(origin.messages[number]) for number in fact.sources if number in origin.messages]
    values: dict[str, Any] = {
        "content": fact.text,
        "type": fact.type,
        "category": fact.category,
        "bank": fact.bank,
        "importance": fact.importance,
        "confidence": fact.confidence,
        "fact_key": fact.key,
        "role": Role.HUMAN,
        "namespace": origin.namespace,
        "user_id": origin.user_id,
        "agent_id": origin.agent_id,
        "session_id": origin.session_id,
        "task_id": origin.task_id,
        "source_kind": source_kind,
        "status": status,
        "extra": {"messages": found_in[:50]} if found_in else {},
    }
    return MemoryDraft.parse(values)

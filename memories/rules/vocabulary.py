"""The words of the domain, each list in one place (CON-04)."""

from __future__ import annotations

from enum import StrEnum


class MemoryType(StrEnum):
    """What kind of knowledge it is (MOD-26)."""

    FACT = "fact"
    SKILL = "skill"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    TASK = "task"
    EPISODIC = "episodic"
    CORRECTION = "correction"


class MemoryCategory(StrEnum):
    """Which shelf of a memory system it belongs to; optional (MOD-09)."""

    USER_PROFILE = "user_profile"
    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    VARIABLE = "variable"
    SUMMARY = "summary"


class Role(StrEnum):
    """Who said it; optional (MOD-08)."""

    SYSTEM = "system"
    HUMAN = "human"
    AI = "ai"
    TOOL = "tool"


class Status(StrEnum):
    """Where it stands in review (STA-01)."""

    DRAFT = "draft"
    ACCEPTED = "accepted"
    DISCARD = "discard"


class Scope(StrEnum):
    """Shared by the vault's agents, or one agent's own (MOD-25)."""

    GLOBAL = "global"
    AGENT = "agent"


class SourceKind(StrEnum):
    """Where a memory came from; never changes after the write."""

    USER_STATED = "user_stated"
    AGENT_INFERRED = "agent_inferred"
    TOOL_OUTPUT = "tool_output"
    WEB = "web"
    IMPORT = "import"
    LLM_DERIVED = "llm_derived"


class Trust(StrEnum):
    """How far its source is believed, lowest first."""

    UNTRUSTED = "untrusted"
    INFERRED = "inferred"
    STATED = "stated"
    VERIFIED = "verified"

    @property
    def rank(self) -> int:
        """0 for untrusted up to 3 for verified."""
        return list(Trust).index(self)


TRUST_OF_SOURCE: dict[SourceKind, Trust] = {
    SourceKind.USER_STATED: Trust.STATED,
    SourceKind.AGENT_INFERRED: Trust.INFERRED,
    SourceKind.TOOL_OUTPUT: Trust.UNTRUSTED,
    SourceKind.WEB: Trust.UNTRUSTED,
    SourceKind.IMPORT: Trust.UNTRUSTED,
    SourceKind.LLM_DERIVED: Trust.INFERRED,
}


class Relation(StrEnum):
    """How one memory stands to another (MOD-41)."""

    SUPERSEDES = "supersedes"
    REFINES = "refines"
    DERIVED_FROM = "derived_from"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    RELATED = "related"


class IndexState(StrEnum):
    """Whether search can find it yet (MOD-42); ``off`` where the vault switched its vectors off."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"


class Outcome(StrEnum):
    """What a write did (DUP-28)."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    UPDATED = "updated"
    SUPERSEDED = "superseded"
    IDEMPOTENT = "idempotent"


class JobState(StrEnum):
    """The life of a job; ``dead`` waits for a person."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class ActorKind(StrEnum):
    """Who acts."""

    KEY = "key"
    USER = "user"
    SYSTEM = "system"


def words(vocabulary: type[StrEnum]) -> list[str]:
    """The plain strings of a vocabulary."""
    return [member.value for member in vocabulary]


def choices(vocabulary: type[StrEnum]) -> list[tuple[str, str]]:
    """The same as (value, label) pairs."""
    return [(word, word) for word in words(vocabulary)]

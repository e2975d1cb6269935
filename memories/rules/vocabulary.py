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


class WindowScope(StrEnum):
    """What a window of turns covers: one conversation, or all of a user or a task (STM-01)."""

    USER = "user"
    SESSION = "session"
    TASK = "task"


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


class Difference(StrEnum):
    """In what two texts that look alike say something else; a pair with any of these is never skipped."""

    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    NAME = "name"
    IDENTIFIER = "identifier"
    WORDING = "wording"
    ORDER = "order"


class PairKind(StrEnum):
    """Why a person should look at two memories together."""

    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    NEAR = "near"


class PairState(StrEnum):
    """What became of a pair; everything but ``open`` is a decision and is remembered."""

    OPEN = "open"
    KEPT_BOTH = "kept_both"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    NOT_DUPLICATE = "not_duplicate"


class UpdateAction(StrEnum):
    """What the update checker may decide about a new memory (CON-09)."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    SKIP = "skip"


class PairDecision(StrEnum):
    """What may be decided about a pair."""

    KEEP_BOTH = "keep_both"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    NOT_DUPLICATE = "not_duplicate"


class Side(StrEnum):
    """One of the two memories of a pair."""

    OLDER = "older"
    NEWER = "newer"


class AccessPurpose(StrEnum):
    """Why a memory was given out: it answered a question, went into a context, or was asked for by its id (PRN-07)."""

    SEARCH = "search"
    CONTEXT = "context"
    READ = "read"


class JobState(StrEnum):
    """The life of a job; ``dead`` waits for a person."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


class ChangesetState(StrEnum):
    """What became of a changeset; ``partial``: some of its memories are as they were before."""

    APPLIED = "applied"
    PARTIAL = "partial"
    UNDONE = "undone"


class ImportState(StrEnum):
    """The life of an import: its lines come in, are checked, wait for a yes, and become memories."""

    RECEIVING = "receiving"
    CHECKING = "checking"
    CHECKED = "checked"
    IMPORTING = "importing"
    DONE = "done"
    FAILED = "failed"


class GuardedService(StrEnum):
    """What the error guard watches: each has a guard of its own in every vault."""

    CHAT = "chat"
    EMBEDDER = "embedder"


class GuardMode(StrEnum):
    """Whether calls go out: all, none, or one to see whether the service is well again."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Purpose(StrEnum):
    """What a language model is asked for."""

    CHECK_UPDATE = "check_update"
    EXTRACT = "extract"
    SUMMARIZE = "summarize"
    SUMMARIZE_MEMORIES = "summarize_memories"
    RERANK = "rerank"
    DREAM = "dream"


class CallResult(StrEnum):
    """What became of a question to a language model."""

    OK = "ok"
    ERROR = "error"
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"


class SkipReason(StrEnum):
    """Why a language model was not asked."""

    NO_MODEL = "no_model"
    GUARD_OPEN = "guard_open"
    ALL_RELEVANT = "all_relevant"
    NOTHING_NEW = "nothing_new"
    SHORTCUT = "shortcut"


class NoteKind(StrEnum):
    """What a line of a daily note tells: something new, a newer version, the same again, one for review, a summary."""

    NEW = "new"
    RENEWED = "renewed"
    AGAIN = "again"
    DRAFT = "draft"
    SUMMARY = "summary"


class DreamState(StrEnum):
    """The life of a dream: ``unchanged`` read and found nothing to change, ``skipped`` had nothing new to read."""

    WAITING = "waiting"
    DONE = "done"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


class ActorKind(StrEnum):
    """Who acts."""

    KEY = "key"
    USER = "user"
    SYSTEM = "system"


class ErasureKind(StrEnum):
    """What an erasure was asked for."""

    MEMORY = "memory"
    SESSION = "session"
    USER = "user"
    AGENT = "agent"
    RETENTION = "retention"
    VAULT = "vault"


def words(vocabulary: type[StrEnum]) -> list[str]:
    """The plain strings of a vocabulary."""
    return [member.value for member in vocabulary]


def choices(vocabulary: type[StrEnum]) -> list[tuple[str, str]]:
    """The same as (value, label) pairs."""
    return [(word, word) for word in words(vocabulary)]

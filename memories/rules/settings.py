"""The one schema of behaviour: every setting with its default, bounds, meaning and the levels it may be set at.

Law of the house: no constant of behaviour lives elsewhere. `resolve` says what holds and who said so (CFG-02, CFG-04).
Keys that only a later part of the hub reads are marked ``planned``, so that nobody is offered a switch without a wire.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

type Trusted = Literal["untrusted", "inferred", "stated", "verified"]
type Share = float


class Level(StrEnum):
    """Where a setting may be made, the widest first; a narrower level wins."""

    SYSTEM = "system"
    VAULT = "vault"
    BANK = "bank"
    AGENT = "agent"
    REQUEST = "request"


class Group(StrEnum):
    """How the settings page groups them."""

    WRITING = "Writing"
    DEDUP = "Deduplication"
    SEARCH = "Search"
    INJECTION = "Context for agents"
    BANKS = "Banks"
    CLEANUP = "Clean-up"
    LIMITS = "Limits and pruning"
    SUMMARIES = "Summaries"
    SESSIONS = "Sessions"
    EXTRACTION = "Extraction"
    DREAMS = "Daily notes and dreams"
    GUARD = "Error guard"


VAULT = (Level.SYSTEM, Level.VAULT)
BANK = (*VAULT, Level.BANK)
AGENT = (*VAULT, Level.AGENT)
CALL = (*VAULT, Level.AGENT, Level.REQUEST)
WRITE = (*VAULT, Level.BANK, Level.AGENT, Level.REQUEST)


def _key(default: Any, group: Group, meaning: str, levels: tuple[Level, ...] = VAULT, **bounds: Any) -> Any:
    extra = {"group": group, "levels": levels, "planned": bounds.pop("planned", False)}
    return Field(default, description=meaning, json_schema_extra=extra, **bounds)


def _later(default: Any, group: Group, meaning: str, levels: tuple[Level, ...] = VAULT, **bounds: Any) -> Any:
    return _key(default, group, meaning, levels, planned=True, **bounds)


def _share(default: float, group: Group, meaning: str, levels: tuple[Level, ...] = VAULT, **more: Any) -> Any:
    return _key(default, group, meaning, levels, ge=0.0, le=1.0, **more)


def _weight(default: float, what: str) -> Any:
    """How much a part of the profile ``balanced`` counts; fitted by ``manage.py bench recall --fit``."""
    return _key(default, Group.SEARCH, f"Weight in a balanced search: {what}.", CALL, ge=0.0, le=10.0)


class Settings(BaseModel):
    """All settings with their defaults; field names are the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    # A named set of values to start from; explicit settings of the same level win over it.
    preset: Literal["none", "seed", "conservative"] = _key(
        "none", Group.WRITING, "A named set of values to start from."
    )

    keyword_index: bool = _key(
        True,
        Group.WRITING,
        "Keep keyed hashes of words, so that words can be found. Off: nothing about words is stored.",
    )
    embeddings: bool = _key(
        True, Group.WRITING, "Keep vectors of meaning. Off: nothing that could betray a paraphrase is stored."
    )
    content_max_length: int = _key(
        100_000, Group.WRITING, "The longest memory, in characters after trimming.", BANK, ge=1, le=100_000
    )
    draft_threshold: Trusted = _key(
        "untrusted", Group.WRITING, "Writes of lower trust than this become drafts and wait for a person.", WRITE[:-1]
    )
    namespace: str = _later(
        "default", Group.WRITING, "The namespace of writes that name none.", CALL, min_length=1, max_length=255
    )

    dedup: bool = _key(True, Group.DEDUP, "Compare a new memory with what is there.", WRITE)
    dedup_with_embeddings: bool = _key(
        True, Group.DEDUP, "Compare meanings, not only the exact text.", (*VAULT, Level.BANK, Level.AGENT)
    )
    dedup_supersede: bool = _key(
        True, Group.DEDUP, "A close newer memory with the same fact key replaces the older one.", BANK
    )
    dedup_skip_threshold: Share = _share(0.92, Group.DEDUP, "More similar than this: a duplicate.", BANK)
    dedup_supersede_threshold: Share = _share(0.80, Group.DEDUP, "More similar than this: close.", BANK)
    similarity_threshold: Share = _share(
        0.75, Group.DEDUP, "More similar than this: worth asking the checker, where there is one.", BANK
    )
    dedup_candidates: int = _key(5, Group.DEDUP, "How many nearest memories are compared.", BANK, ge=1, le=50)
    update_checker: Literal["none", "llm"] = _later("none", Group.DEDUP, "Who decides about close pairs.", BANK)
    text_similarity_threshold: Share = _share(
        0.95, Group.DEDUP, "Without embeddings: as alike as this in characters is a duplicate.", BANK, planned=True
    )
    short_preference_no_dedupe_length: int = _later(
        100, Group.DEDUP, "Preferences shorter than this are compared exactly only.", BANK, ge=0, le=1_000
    )

    search_profile: Literal["balanced", "seed"] = _key(
        "balanced", Group.SEARCH, "How the legs of a search are put together.", CALL
    )
    search_top_k: int = _key(10, Group.SEARCH, "How many results a search returns.", CALL, ge=1, le=200)
    search_threshold: Share = _share(
        0.4, Group.SEARCH, "The least cosine similarity of the semantic leg in an explicit search.", CALL
    )
    min_trust: Trusted = _key("untrusted", Group.SEARCH, "Search hides memories of lower trust than this.", CALL)
    candidate_limit: int = _key(
        100, Group.SEARCH, "How many candidates each leg of a search contributes.", CALL, ge=10, le=1_000
    )
    keyword_weight: float = _weight(0.25, "the words of the question in a memory, by BM25")
    semantic_weight: float = _weight(1.0, "how near a memory's meaning is")
    keyword_window_weight: float = _weight(1.8, "words in a memory together with what was said around it")
    semantic_window_weight: float = _weight(0.5, "meaning of a memory together with what was said around it")
    coverage_weight: float = _weight(0.2, "the share of the question's words that a memory has")
    date_weight: float = _weight(1.5, "the dates a question names")
    time_weight: float = _weight(0.6, "a memory that mentions a time, when the question asks for one")
    author_weight: float = _weight(0.85, "memories of the one person or thing that a question names")
    first_person_weight: float = _weight(1.9, "what people said themselves, when a question says I or my")
    decay_half_life_days: int = _key(
        30,
        Group.SEARCH,
        "Profile seed: after so many days a memory counts half; 0 switches decay off.",
        CALL,
        ge=0,
        le=3_650,
    )
    mmr_lambda: Share = _share(0.7, Group.SEARCH, "Profile seed: 1 ranks by relevance only, 0 by variety only.", CALL)
    use_llm_for_relevance: bool = _later(False, Group.SEARCH, "Let a language model re-rank the candidates.", CALL)
    llm_skip_relevance_threshold: Share = _share(
        0.93, Group.SEARCH, "No re-ranking when every candidate is at least this similar.", CALL, planned=True
    )
    llm_candidate_limit: int = _later(20, Group.SEARCH, "How many candidates the model sees.", CALL, ge=1, le=100)
    llm_top_n: int = _later(10, Group.SEARCH, "How many the model returns.", CALL, ge=1, le=100)

    vector_similarity_threshold: Share = _share(
        0.7, Group.INJECTION, "The least cosine similarity of what is injected unasked.", CALL, planned=True
    )
    context_max_tokens: int = _later(
        2_000, Group.INJECTION, "How long the injected context may be, in estimated tokens.", CALL, ge=16, le=200_000
    )

    default_memory_bank: str = _key(
        "General", Group.BANKS, "The bank of writes that name none.", AGENT, min_length=1, max_length=255
    )
    allowed_memory_banks: list[str] | None = _later(
        None,
        Group.BANKS,
        "The banks that may be written to; not set means every bank of the vault.",
        AGENT,
        max_length=100,
    )

    cleanup_episodic_age_days: int = _key(
        30, Group.CLEANUP, "Episodic memories older than this are stale.", BANK, ge=0, le=36_500
    )
    cleanup_episodic_importance: int = _key(
        2, Group.CLEANUP, "Stale episodic memories up to this importance are candidates.", BANK, ge=1, le=5
    )
    cleanup_stale_days: int = _key(
        14, Group.CLEANUP, "Unimportant memories not changed for longer than this are stale.", BANK, ge=0, le=36_500
    )
    cleanup_stale_importance: int = _key(1, Group.CLEANUP, "Unimportant means up to this importance.", BANK, ge=1, le=5)

    max_total_memories: int | None = _later(
        None,
        Group.LIMITS,
        "How many live memories a user may have before the least needed are archived.",
        ge=1,
        le=100_000_000,
    )
    max_facts: int | None = _later(None, Group.LIMITS, "How many facts the core tier keeps.", ge=1, le=100_000_000)
    pruning_strategy: Literal["fifo", "least_relevant", "oldest_accessed"] = _later(
        "fifo", Group.LIMITS, "Which memories go first."
    )
    pruning_batch_size: int = _later(10, Group.LIMITS, "How many are archived at a time.", ge=1, le=1_000)

    enable_summarization: bool = _later(True, Group.SUMMARIES, "Summarise clusters of old, similar memories.", BANK)
    summarization_interval_hours: int = _later(24, Group.SUMMARIES, "How often.", ge=1, le=8_760)
    summarization_min_memory_age_days: int = _later(
        7, Group.SUMMARIES, "Only memories older than this.", BANK, ge=0, le=3_650
    )
    summarization_min_cluster_size: int = _later(3, Group.SUMMARIES, "Smallest cluster.", BANK, ge=2, le=100)
    summarization_max_cluster_size: int = _later(8, Group.SUMMARIES, "Largest cluster.", BANK, ge=2, le=100)
    summarization_strategy: Literal["embeddings", "tags", "hybrid"] = _later(
        "hybrid", Group.SUMMARIES, "What makes memories a cluster.", BANK
    )
    summarization_similarity_threshold: Share = _share(
        0.7, Group.SUMMARIES, "The least similarity within a cluster.", BANK, planned=True
    )

    session_scope: Literal["user", "session", "task"] = _later("session", Group.SESSIONS, "What a window covers.", CALL)
    session_max_rounds: int = _later(10, Group.SESSIONS, "How many rounds a window holds.", CALL, ge=1, le=1_000)
    summary_message_threshold: int = _later(
        20, Group.SESSIONS, "More messages than this are summarised.", CALL, ge=1, le=10_000
    )
    summary_token_threshold: int = _later(
        4_000, Group.SESSIONS, "More tokens than this are summarised.", CALL, ge=100, le=1_000_000
    )
    summary_keep_messages: int = _later(
        4, Group.SESSIONS, "The newest messages that stay as they are.", CALL, ge=1, le=100
    )
    summary_template: Literal["conversation", "facts", "profiles"] = _later(
        "conversation", Group.SESSIONS, "What a summary keeps.", CALL
    )

    extraction_batch_size: int = _later(5, Group.EXTRACTION, "Conversations in one batch.", ge=1, le=100)
    extraction_max_concurrent: int = _later(3, Group.EXTRACTION, "Batches under way at once.", ge=1, le=32)
    extraction_min_items: int = _later(3, Group.EXTRACTION, "Fewer messages than this wait for more.", ge=1, le=100)
    extraction_types: list[Literal["user_profile", "agent_experience", "facts"]] = _later(
        ["user_profile", "agent_experience", "facts"], Group.EXTRACTION, "What is looked for.", AGENT, min_length=1
    )
    extraction_debounce_seconds: int = _later(
        30, Group.EXTRACTION, "Quiet time before a session is read.", ge=0, le=3_600
    )
    extraction_max_wait_seconds: int = _later(
        300, Group.EXTRACTION, "The longest a busy session waits.", ge=0, le=86_400
    )
    enable_short_preference_shortcut: bool = _later(
        True, Group.EXTRACTION, "Store short first-person preferences without asking a model.", AGENT
    )
    short_preference_max_length: int = _later(
        60, Group.EXTRACTION, "Short means up to this length.", AGENT, ge=1, le=1_000
    )
    preference_keywords: list[str] = _later(
        ["favorite", "love", "like", "enjoy", "prefer", "hate"],
        Group.EXTRACTION,
        "The words that make a preference.",
        AGENT,
        max_length=100,
    )

    dream_lookback_days: int = _later(1, Group.DREAMS, "How many days of notes a dream reads.", CALL, ge=1, le=30)

    enable_error_guard: bool = _later(True, Group.GUARD, "Pause extraction after repeated errors.")
    error_guard_threshold: int = _later(5, Group.GUARD, "So many errors …", ge=1, le=1_000)
    error_guard_window_seconds: int = _later(600, Group.GUARD, "… within this time open the guard …", ge=1, le=86_400)
    error_guard_cooldown_seconds: int = _later(300, Group.GUARD, "… for this long.", ge=1, le=86_400)


PRESETS: dict[str, dict[str, Any]] = {
    "none": {},
    "seed": {"max_total_memories": 200, "max_facts": 500, "search_profile": "seed"},
    "conservative": {"dedup_skip_threshold": 0.97, "dedup_supersede": False},
}

# Pairs whose first may not exceed the second (CFG-03).
ORDERED: tuple[tuple[str, str], ...] = (
    ("similarity_threshold", "dedup_supersede_threshold"),
    ("dedup_supersede_threshold", "dedup_skip_threshold"),
    ("summarization_min_cluster_size", "summarization_max_cluster_size"),
    ("summary_keep_messages", "summary_message_threshold"),
    ("extraction_debounce_seconds", "extraction_max_wait_seconds"),
    ("llm_top_n", "llm_candidate_limit"),
)

# Names the original systems used, where ours differs because theirs meant two things or said less (CFG-04).
OTHER_NAMES: dict[str, str] = {
    "deduplicate_memories": "dedup",
    "use_embeddings_for_deduplication": "dedup_with_embeddings",
    "embedding_similarity_threshold": "dedup_skip_threshold",
    "limit": "search_top_k",
    "topK": "search_top_k",
    "threshold": "search_threshold",
    "max_rounds": "session_max_rounds",
    "batch_size": "extraction_batch_size",
    "max_concurrent": "extraction_max_concurrent",
    "template": "summary_template",
    "max_tokens": "context_max_tokens",
    "lookback_days": "dream_lookback_days",
    "top_k": "dedup_candidates",
    "top_n": "llm_top_n",
    "scope": "session_scope",
}

"""The one schema of behaviour: every setting with its default, bounds, meaning and the levels it may be set at.

Law of the house: no constant of behaviour lives elsewhere. `resolve` says what holds and who said so (CFG-02, CFG-04).
Keys that only a later part of the hub reads are marked ``planned``, so that nobody is offered a switch without a wire.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memories.rules.cleanup import SEED_RULES, RuleName
from memories.rules.settingkeys import AGENT, BANK, CALL, VAULT, WRITE, Share, Trusted
from memories.rules.settingkeys import Group as Group
from memories.rules.settingkeys import Level as Level
from memories.rules.settingkeys import key as _key
from memories.rules.settingkeys import later as _later
from memories.rules.settingkeys import ranked as _ranked
from memories.rules.settingkeys import share as _share
from memories.rules.settingkeys import weight as _weight

type MemoryTypeName = Literal["fact", "skill", "preference", "constraint", "task", "episodic", "correction"]
type MemoryCategoryName = Literal["user_profile", "semantic", "episodic", "variable", "summary"]


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
        True,
        Group.DEDUP,
        "Compare meanings; off, or without embeddings: characters.",
        (*VAULT, Level.BANK, Level.AGENT),
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
    update_checker: Literal["none", "llm"] = _key(
        "none", Group.DEDUP, "Who decides about close memories: a person, or a language model first.", BANK
    )
    text_similarity_threshold: Share = _share(
        0.95, Group.DEDUP, "Without embeddings: as alike as this in characters is a duplicate.", BANK
    )
    short_preference_no_dedupe_length: int = _key(
        100,
        Group.DEDUP,
        "Preferences shorter than this are skipped only when equal; close ones are listed for review.",
        BANK,
        ge=0,
        le=1_000,
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
    phrase_weight: float = _weight(1.0, "a memory that says word for word what the question puts in quotes")
    graph_weight: float = _weight(0.0, "what is linked to the best, or of the same people and things; 0 does not look")
    balanced_half_life_days: int = _key(
        0,
        Group.SEARCH,
        "Profile balanced: so many days older than the newest candidate, a memory counts half; 0 switches decay off.",
        CALL,
        ge=0,
        le=36_500,
    )
    balanced_mmr_lambda: Share = _share(
        0.5, Group.SEARCH, "Profile balanced: 1 ranks by relevance only, less keeps what is alike apart.", CALL
    )
    balanced_alike_from: Share = _share(
        0.95, Group.SEARCH, "Profile balanced: memories are alike from this cosine on, and not below it.", CALL
    )
    seed_semantic_weight: float = _ranked(1.0, "its place in the semantic leg")
    seed_keyword_weight: float = _ranked(0.8, "its place in the keyword leg")
    seed_graph_weight: float = _ranked(0.6, "its place in the graph leg")
    rrf_k: int = _key(
        60,
        Group.SEARCH,
        "Profile seed: what is added to a rank; more lets the first places stand out less.",
        CALL,
        ge=1,
        le=1_000,
    )
    decay_half_life_days: int = _key(
        30,
        Group.SEARCH,
        "Profile seed: after so many days a memory counts half; 0 switches decay off.",
        CALL,
        ge=0,
        le=36_500,
    )
    decay_floor: Share = _share(0.3, Group.SEARCH, "However old, a memory keeps so much of its score.", CALL)
    mmr_lambda: Share = _share(0.7, Group.SEARCH, "Profile seed: 1 ranks by relevance only, 0 by variety only.", CALL)
    importance_boost: Share = _share(
        0.1, Group.SEARCH, "The score of importance 5 is raised by this share, that of importance 1 lowered.", CALL
    )
    confidence_boost: Share = _share(0.05, Group.SEARCH, "The same for confidence.", CALL)
    use_llm_for_relevance: bool = _key(False, Group.SEARCH, "Let a language model re-rank the candidates.", CALL)
    llm_skip_relevance_threshold: Share = _share(
        0.93, Group.SEARCH, "No re-ranking when every one of the best is at least this similar.", CALL
    )
    llm_candidate_limit: int = _key(20, Group.SEARCH, "How many candidates the model sees.", CALL, ge=1, le=100)
    llm_top_n: int = _key(10, Group.SEARCH, "How many the model puts in order.", CALL, ge=1, le=100)
    llm_relevance_seconds: int = _key(5, Group.SEARCH, "How long a search waits for the model.", CALL, ge=1, le=60)

    vector_similarity_threshold: Share = _share(
        0.7, Group.INJECTION, "The least cosine similarity of what is injected for its meaning alone.", CALL
    )
    context_reserved_share: Share = _share(
        0.25, Group.INJECTION, "The share of it kept for corrections and constraints, whatever is asked.", CALL
    )
    context_max_tokens: int = _key(
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
    cleanup_unrecalled_days: int = _key(
        90, Group.CLEANUP, "Memories older than this that were never recalled may be cleaned up.", BANK, ge=0, le=36_500
    )
    cleanup_near_similarity: Share = _share(
        0.85, Group.CLEANUP, "Near duplicates are at least this similar, and differ in no fact."
    )
    cleanup_cap_share: Share = _share(
        0.2, Group.CLEANUP, "A clean-up of more than this share of the live memories has to be confirmed twice."
    )
    cleanup_scheduled: bool = _key(
        False, Group.CLEANUP, "Make a clean-up plan by itself, for a person to look at, when there is anything to plan."
    )
    cleanup_every_hours: int = _key(24, Group.CLEANUP, "How often it does.", ge=1, le=8_760)
    cleanup_rules: list[RuleName] = _key(
        [rule.value for rule in SEED_RULES], Group.CLEANUP, "The rules of a scheduled plan.", min_length=1
    )
    cleanup_auto_apply: list[RuleName] = _key(
        [], Group.CLEANUP, "Rules whose scheduled plans are applied without a person, up to the cap; none by default."
    )
    cleanup_plan_days: int = _key(
        7, Group.CLEANUP, "How many days a clean-up plan may be applied after it was made.", ge=1, le=365
    )
    undo_days: int = _key(
        30, Group.CLEANUP, "How many days a clean-up or another bulk change can be undone.", ge=1, le=3_650
    )

    max_total_memories: int | None = _key(
        None,
        Group.LIMITS,
        "How many live memories a user may have before the least needed are archived.",
        ge=1,
        le=100_000_000,
    )
    max_facts: int | None = _key(None, Group.LIMITS, "How many live facts a namespace keeps.", ge=1, le=100_000_000)
    pruning_strategy: Literal["fifo", "least_relevant", "oldest_accessed", "lru"] = _key(
        "fifo", Group.LIMITS, "Which memories go first."
    )
    pruning_batch_size: int = _key(10, Group.LIMITS, "How many are archived at a time.", ge=1, le=1_000)
    import_max_mib: int = _key(1024, Group.LIMITS, "How large an imported file may be, in MiB.", ge=1, le=65_536)
    import_max_lines: int = _key(
        2_000_000, Group.LIMITS, "How many lines an imported file may have.", ge=1, le=100_000_000
    )
    import_document_max_mib: int = _key(
        64, Group.LIMITS, "How large a file of another program may be that has to be read whole, in MiB.", ge=1, le=1024
    )
    mem0_api: bool = _key(False, Group.WRITING, "Answer under /compat/mem0 as mem0's open-source server does.")
    import_staged_days: int = _key(
        7, Group.LIMITS, "How long the lines of an import wait for a yes before they are dropped.", ge=1, le=365
    )

    enable_retention: bool = _key(
        False, Group.RETENTION, "Archive what the keys below name, and purge what the last two name, once a day.", BANK
    )
    retention_max_age_days: int | None = _key(
        None, Group.RETENTION, "Archive memories older than this.", BANK, ge=1, le=36_500
    )
    retention_inactive_days: int | None = _key(
        None, Group.RETENTION, "Archive memories neither recalled nor changed for this long.", BANK, ge=1, le=36_500
    )
    retention_max_memories: int | None = _key(
        None, Group.RETENTION, "Archive the least recently needed above this number.", BANK, ge=1, le=100_000_000
    )
    retention_types: list[MemoryTypeName] | None = _key(
        None, Group.RETENTION, "Only these types; not set: all but constraints and corrections.", BANK, max_length=7
    )
    retention_categories: list[MemoryCategoryName] | None = _key(
        None, Group.RETENTION, "Only these categories; not set: all, and those without one.", BANK, max_length=5
    )
    purge_discarded_days: int | None = _key(
        None, Group.RETENTION, "Erase for good what was discarded this long ago.", BANK, ge=30, le=36_500
    )
    purge_archived_days: int | None = _key(
        None, Group.RETENTION, "Erase for good what was archived this long ago.", BANK, ge=30, le=36_500
    )

    access_log_days: int = _key(
        30,
        Group.ACCESSES,
        "How long it is kept who was given which memory, and for what question; 0 keeps nothing.",
        ge=0,
        le=3_650,
    )
    access_log_entries: int = _key(
        100, Group.ACCESSES, "How many of the newest entries are kept for one memory; 0 keeps nothing.", ge=0, le=10_000
    )

    events_days: int = _key(
        30, Group.EVENTS, "How long events can be read again, and deliveries of webhooks looked at.", ge=1, le=365
    )

    enable_summarization: bool = _key(
        True, Group.SUMMARIES, "Summarise clusters of old, similar memories, by itself and by hand.", BANK
    )
    summarization_interval_hours: int = _key(
        24, Group.SUMMARIES, "How often the hub summarises by itself.", ge=1, le=8_760
    )
    summarization_min_memory_age_days: int = _key(
        7, Group.SUMMARIES, "Only memories older than this.", BANK, ge=0, le=3_650
    )
    summarization_min_cluster_size: int = _key(3, Group.SUMMARIES, "Smallest cluster.", BANK, ge=2, le=100)
    summarization_max_cluster_size: int = _key(8, Group.SUMMARIES, "Largest cluster.", BANK, ge=2, le=100)
    summarization_strategy: Literal["embeddings", "tags", "hybrid"] = _key(
        "hybrid",
        Group.SUMMARIES,
        "What makes memories a cluster: meaning, shared fact keys and tags, or meaning refined by them.",
        BANK,
    )
    summarization_similarity_threshold: Share = _share(
        0.7, Group.SUMMARIES, "The least similarity between two members.", BANK
    )

    session_scope: Literal["user", "session", "task"] = _key("session", Group.SESSIONS, "What a window covers.", CALL)
    session_max_rounds: int = _key(10, Group.SESSIONS, "How many rounds a window holds.", CALL, ge=1, le=1_000)
    summary_message_threshold: int = _key(
        20, Group.SESSIONS, "More messages than this are summarised.", CALL, ge=1, le=10_000
    )
    summary_token_threshold: int = _key(
        4_000, Group.SESSIONS, "More tokens than this are summarised.", CALL, ge=100, le=1_000_000
    )
    summary_keep_messages: int = _key(
        4, Group.SESSIONS, "The newest messages that stay as they are.", CALL, ge=1, le=100
    )
    summary_template: Literal["conversation", "facts", "profiles"] = _key(
        "conversation", Group.SESSIONS, "What a summary keeps.", CALL
    )

    summary_max_tokens: int = _key(
        600, Group.SESSIONS, "How long a session's summary may be, in estimated tokens.", CALL, ge=50, le=20_000
    )

    extraction_batch_size: int = _later(5, Group.EXTRACTION, "Conversations in one batch.", ge=1, le=100)
    extraction_max_concurrent: int = _later(3, Group.EXTRACTION, "Batches under way at once.", ge=1, le=32)
    extraction_min_items: int = _key(
        1,
        Group.EXTRACTION,
        "Fewer messages than this wait for more, as long as a busy session may wait.",
        ge=1,
        le=100,
    )
    extraction_types: list[Literal["user_profile", "agent_experience", "facts"]] = _key(
        ["user_profile", "agent_experience", "facts"], Group.EXTRACTION, "What is looked for.", AGENT, min_length=1
    )
    extraction_debounce_seconds: int = _key(
        30, Group.EXTRACTION, "Quiet time before a session is read.", ge=0, le=3_600
    )
    extraction_max_wait_seconds: int = _key(300, Group.EXTRACTION, "The longest a busy session waits.", ge=0, le=86_400)
    extraction_tokens: int = _key(
        6_000, Group.EXTRACTION, "How much of a session is read at once, in estimated tokens.", ge=200, le=200_000
    )
    enable_short_preference_shortcut: bool = _key(
        True, Group.EXTRACTION, "Store short first-person preferences without asking a model.", AGENT
    )
    short_preference_max_length: int = _key(
        60, Group.EXTRACTION, "Short means up to this length.", AGENT, ge=1, le=1_000
    )
    preference_keywords: list[str] = _key(
        ["favorite", "love", "like", "enjoy", "prefer", "hate"],
        Group.EXTRACTION,
        "The words that make a preference.",
        AGENT,
        max_length=100,
    )

    daily_min_importance: int = _key(
        1, Group.DREAMS, "What is found in a conversation is noted from this importance on.", ge=1, le=5
    )
    daily_min_confidence: int = _key(3, Group.DREAMS, "… and from this confidence on.", ge=1, le=5)
    daily_max_lines: int = _key(
        500, Group.DREAMS, "How many lines a day's note holds; what comes after is only counted.", ge=1, le=10_000
    )
    enable_dreams: bool = _key(
        True, Group.DREAMS, "Consolidate daily notes into the core document every night when there is something new."
    )
    dream_hour: int = _key(3, Group.DREAMS, "The hour (UTC) of the nightly dream.", ge=0, le=23)
    dream_lookback_days: int = _key(1, Group.DREAMS, "How many days back a nightly dream reads.", ge=1, le=30)
    core_min_importance: int = _key(
        3, Group.DREAMS, "What was noted moves into the core document from this importance on …", ge=1, le=5
    )
    core_min_mentions: int = _key(
        2, Group.DREAMS, "… or, however unimportant, when it was noted so often.", ge=1, le=1_000
    )
    core_min_confidence: int = _key(
        4, Group.DREAMS, "Nothing less sure than this moves into the core document.", ge=1, le=5
    )
    core_max_lines: int = _key(
        500,
        Group.DREAMS,
        "How many lines the core document of a namespace holds: the least sure go first, then the oldest.",
        ge=1,
        le=5_000,
    )
    dream_tokens: int = _key(
        6_000,
        Group.DREAMS,
        "How much of a section a language model gets at once, in estimated tokens.",
        ge=200,
        le=200_000,
    )
    dream_max_dropped: Share = _share(
        0.5, Group.DREAMS, "A language model that drops more than this share of a section is not believed."
    )

    enable_error_guard: bool = _key(
        True, Group.GUARD, "Stop asking a model or embedding service after repeated errors."
    )
    error_guard_threshold: int = _key(5, Group.GUARD, "So many errors …", ge=1, le=1_000)
    error_guard_window_seconds: int = _key(600, Group.GUARD, "… within this time open the guard …", ge=1, le=86_400)
    error_guard_cooldown_seconds: int = _key(300, Group.GUARD, "… for this long.", ge=1, le=86_400)

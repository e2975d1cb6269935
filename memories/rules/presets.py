"""Sets of values to start from, which values must keep an order, and the names that settings had elsewhere."""

from __future__ import annotations

from typing import Any

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

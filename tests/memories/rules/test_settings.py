"""One schema for every setting: complete, bounded and described (CFG-03, CFG-04)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from memories.rules.layers import INFO, SettingInfo, SettingInvalid, check_setting
from memories.rules.presets import ORDERED, OTHER_NAMES, PRESETS
from memories.rules.settings import Level, Settings

# The table of the requirements: name there → default there. What is not a setting of the hub is explained below.
SEED: dict[str, Any] = {
    "similarity_threshold": 0.75, "top_k": 5, "namespace": "default", "update_checker": "none", "limit": 10,
    "scope": "session", "max_rounds": 10, "batch_size": 5, "max_concurrent": 3, "template": "conversation",
    "default_memory_bank": "General", "pruning_strategy": "fifo", "pruning_batch_size": 10,
    "enable_summarization": True,
    "summarization_interval_hours": 24, "summarization_min_memory_age_days": 7, "summarization_min_cluster_size": 3,
    "summarization_max_cluster_size": 8, "summarization_strategy": "hybrid", "summarization_similarity_threshold": 0.7,
    "use_llm_for_relevance": False, "llm_skip_relevance_threshold": 0.93, "vector_similarity_threshold": 0.7,
    "llm_candidate_limit": 20, "top_n": 10, "enable_short_preference_shortcut": True, "short_preference_max_length": 60,
    "preference_keywords": ["favorite", "love", "like", "enjoy", "prefer", "hate"], "deduplicate_memories": True,
    "use_embeddings_for_deduplication": True, "text_similarity_threshold": 0.95,
    "short_preference_no_dedupe_length": 100,
    "enable_error_guard": True, "error_guard_threshold": 5, "error_guard_window_seconds": 600,
    "error_guard_cooldown_seconds": 300, "topK": 10, "threshold": 0.4, "dedup_skip_threshold": 0.92,
    "dedup_supersede_threshold": 0.80, "cleanup_episodic_age_days": 30, "cleanup_episodic_importance": 2,
    "cleanup_stale_days": 14, "cleanup_stale_importance": 1, "lookback_days": 1, "summary_message_threshold": 20,
    # Limits ship unset; the preset "seed" sets the seed's 200 and 500 (CON-12).
    "max_total_memories": None, "max_facts": None,
    # Not set means every bank of the vault: banks are rows, not a list of names (CON-05).
    "allowed_memory_banks": None,
}  # fmt: skip
# No settings: `secret` is MEMORYHUB_KEYS, `includeArchived` and `dryRun` are said with each call, and
# `embedding_similarity_threshold` 0.97 is what the preset "conservative" makes of `dedup_skip_threshold`.


@pytest.mark.parametrize(("name", "default"), SEED.items())
def test_every_key_of_the_seeds_is_there_with_its_default(name: str, default: Any):
    """CFG-04: one schema holds all of them, also those the seed's own class forgot."""
    assert INFO[OTHER_NAMES.get(name, name)].default == default


def test_the_hubs_own_keys():
    defaults = {key: INFO[key].default for key in ("keyword_index", "embeddings", "content_max_length")}
    assert defaults == {"keyword_index": True, "embeddings": True, "content_max_length": 100_000}
    assert {INFO[key].default for key in ("draft_threshold", "min_trust")} == {"untrusted"}


@pytest.mark.parametrize("info", INFO.values(), ids=INFO.keys())
def test_every_key_is_described_and_its_default_acceptable(info: SettingInfo):
    assert info.description.endswith((".", "…"))
    assert info.levels[0] == Level.SYSTEM
    assert list(info.levels) == sorted(info.levels, key=list(Level).index)
    assert check_setting(info.key, info.default, Level.VAULT) == info.default


NUMBERS = [
    info
    for info in INFO.values()
    if type(info.default) in (int, float) or info.key in {"max_total_memories", "max_facts"}
]


@pytest.mark.parametrize("info", NUMBERS, ids=[info.key for info in NUMBERS])
def test_numbers_have_bounds_and_keep_them(info: SettingInfo):
    """CFG-03: out of range, not finite, or not a number at all is refused at save."""
    assert info.minimum is not None
    assert info.maximum is not None
    for fits in (info.minimum, info.maximum):
        assert check_setting(info.key, fits, Level.VAULT) == fits
    outside: tuple[object, ...] = (info.minimum - 1, info.maximum + 1, math.nan, math.inf, "10", True, [1], {})
    for wrong in outside:
        with pytest.raises(SettingInvalid):
            check_setting(info.key, wrong, Level.VAULT)


SWITCHES = [info.key for info in INFO.values() if isinstance(info.default, bool)]


@pytest.mark.parametrize("key", SWITCHES)
@pytest.mark.parametrize("wrong", [0, 1, "true", None, "off"])
def test_switches_are_on_or_off(key: str, wrong: object):
    with pytest.raises(SettingInvalid):
        check_setting(key, wrong, Level.VAULT)


CHOICES = [info for info in INFO.values() if info.choices]


@pytest.mark.parametrize("info", CHOICES, ids=[info.key for info in CHOICES])
def test_choices_are_exactly_those_named(info: SettingInfo):
    """CON-13: an unknown pruning strategy is an error, never a silent fifo."""
    assert [check_setting(info.key, choice, Level.VAULT) for choice in info.choices] == list(info.choices)
    for wrong in ("", "unheard of", info.choices[0].upper(), None, 1):
        with pytest.raises(SettingInvalid):
            check_setting(info.key, wrong, Level.VAULT)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_hold_acceptable_values(name: str):
    for key, value in PRESETS[name].items():
        assert check_setting(key, value, Level.VAULT) == value
    assert name in INFO["preset"].choices


def test_names_lead_somewhere():
    assert set(OTHER_NAMES.values()) <= set(INFO)
    assert not set(OTHER_NAMES) & set(INFO)
    assert {key for pair in ORDERED for key in pair} <= set(INFO)


def test_the_defaults_are_one_valid_object():
    assert Settings.model_validate({}).search_top_k == 10

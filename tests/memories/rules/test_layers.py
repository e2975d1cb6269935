"""Which setting holds, who said so, and what cannot be said (CFG-01 to CFG-03)."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.layers import SettingInvalid, check_change, check_setting, resolve, unknown_keys
from memories.rules.settings import Level

SYSTEM, VAULT, BANK, AGENT, REQUEST = Level


def test_without_a_word_everything_is_default():
    assert {effective.source for effective in resolve({}).values()} == {"default"}


def test_the_narrowest_level_wins():
    """CFG-02: system → vault → bank → agent → request, each visible as the source."""
    layers: dict[Level, dict[str, Any]] = {}
    for level, value in ((SYSTEM, 11), (VAULT, 12), (AGENT, 13), (REQUEST, 14)):
        layers[level] = {"search_top_k": value}
        assert resolve(layers)["search_top_k"] == (value, level.value)
    assert resolve({SYSTEM: {"dedup": False}, BANK: {"dedup": True}})["dedup"] == (True, "bank")


def test_removing_a_setting_restores_what_was_before():
    """CFG-01: switching off and on again leaves no trace."""
    assert resolve({VAULT: {"embeddings": False}})["embeddings"].value is False
    assert resolve({VAULT: {}}) == resolve({})


def test_a_preset_stands_below_its_own_levels_settings_and_above_wider_ones():
    effective = resolve({SYSTEM: {"max_facts": 9}, VAULT: {"preset": "seed", "max_total_memories": 50}})
    assert effective["max_facts"] == (500, "vault: preset seed")
    assert effective["max_total_memories"] == (50, "vault")
    assert effective["preset"] == ("seed", "vault")


def test_the_conservative_preset():
    """CON-08: only above 0.97 is skipped, nothing supersedes by itself."""
    effective = resolve({VAULT: {"preset": "conservative"}})
    assert (effective["dedup_skip_threshold"].value, effective["dedup_supersede"].value) == (0.97, False)


@pytest.mark.parametrize(
    "layer",
    [
        {"search_top_k": 9_999},
        {"nothing_like_it": 1},
        {"preset": "unheard of"},
        {"preset": ["seed"]},
        {"search_threshold": "high"},
        {"dedup": None},
    ],
)
def test_what_is_stored_and_no_longer_acceptable_is_passed_over(layer: dict[str, Any]):
    assert resolve({VAULT: layer}) == resolve({})


def test_a_level_where_a_key_may_not_be_set_is_passed_over():
    assert resolve({REQUEST: {"embeddings": False, "preset": "seed"}}) == resolve({})
    with pytest.raises(SettingInvalid) as caught:
        check_setting("embeddings", False, REQUEST)
    assert caught.value.errors[0].code == "wrong_level"


def test_unknown_keys_are_reported():
    """CFG-03."""
    assert unknown_keys({VAULT: {"zzz": 1, "dedup": True, "topK": 5}, AGENT: {"aaa": 2}}) == ["aaa", "zzz"]
    with pytest.raises(SettingInvalid) as caught:
        check_change({}, VAULT, "zzz", 1)
    assert caught.value.errors[0].code == "unknown_key"


def test_the_names_of_the_seeds_are_understood():
    assert check_change({}, VAULT, "deduplicate_memories", False) == ("dedup", False)
    assert resolve({VAULT: {"topK": 7}})["search_top_k"].value == 7


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("summarization_min_cluster_size", 9),
        ("summarization_max_cluster_size", 2),
        ("dedup_supersede_threshold", 0.95),
        ("similarity_threshold", 0.81),
        ("extraction_max_wait_seconds", 10),
        ("summary_keep_messages", 21),
    ],
)
def test_a_minimum_may_not_exceed_its_maximum(key: str, value: float):
    """CFG-03: also when the other half is a default or was set at another level."""
    with pytest.raises(SettingInvalid, match="cannot be made") as caught:
        check_change({}, VAULT, key, value)
    assert caught.value.errors[0].code == "out_of_order"


def test_the_pair_is_judged_with_what_holds():
    layers = {SYSTEM: {"summarization_max_cluster_size": 12}}
    assert check_change(layers, VAULT, "summarization_min_cluster_size", 9) == ("summarization_min_cluster_size", 9)

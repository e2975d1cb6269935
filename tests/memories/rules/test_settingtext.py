"""What people type into the form of a setting."""

from __future__ import annotations

from typing import Any

import pytest

from memories.rules.layers import INFO, SettingInvalid, check_setting
from memories.rules.settingtext import bounds_of, kind_of, options_of, parsed, typed


@pytest.mark.parametrize("key", INFO)
def test_every_default_can_be_typed_and_read_back(key: str):
    default = INFO[key].default
    if default is not None:
        assert check_setting(key, parsed(key, typed(default)), INFO[key].levels[0]) == default


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("dedup", "yes_no"),
        ("search_top_k", "whole"),
        ("max_facts", "whole"),
        ("decay_floor", "number"),
        ("search_profile", "choice"),
        ("min_trust", "choice"),
        ("cleanup_rules", "list"),
        ("allowed_memory_banks", "list"),
        ("default_memory_bank", "text"),
    ],
)
def test_each_has_the_field_it_needs(key: str, kind: str):
    assert kind_of(key) == kind


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("dedup", " No ", False),
        ("search_top_k", "25", 25),
        ("decay_floor", "0.5", 0.5),
        ("preference_keywords", "love, like\nhate", ["love", "like", "hate"]),
    ],
)
def test_it_is_understood(key: str, text: str, value: Any):
    assert parsed(key, text) == value


@pytest.mark.parametrize(("key", "text"), [("dedup", "perhaps"), ("search_top_k", "2.5"), ("decay_floor", "half")])
def test_the_wrong_kind_is_refused_with_what_is_wanted(key: str, text: str):
    with pytest.raises(SettingInvalid) as refused:
        parsed(key, text)
    assert refused.value.errors[0].detail.startswith("must be")


def test_bounds_in_words():
    assert bounds_of(INFO["search_top_k"]) == "1 to 200"
    assert bounds_of(INFO["summary_token_threshold"]) == "100 to 1,000,000"
    assert bounds_of(INFO["search_profile"]) == "one of: balanced, seed"
    assert "superseded" in options_of("cleanup_rules")

"""The sample story itself: believable, varied, and without loose ends."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise

import pytest

from memories.management.demo.story import PERSON, Story, read_story
from memories.rules.vocabulary import MemoryType
from memoryhub.lib.text import content_fingerprint

TODAY = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def story() -> Story:
    return read_story()


def test_it_is_about_four_hundred_memories_of_ninety_days(story: Story):
    ages = [item.days_ago for _, item in story.items]
    assert 380 <= len(ages) <= 480
    assert (min(ages), max(ages)) == (0, 90)
    assert len(set(ages)) > 70


def test_every_bank_and_type_has_its_share(story: Story):
    banks = Counter(bank for bank, _ in story.items)
    assert set(banks) == {
        "General", "Personal", "Work", "Relationships", "Health", "Interests", "Events", "Home Lab",
    }  # fmt: skip
    assert min(banks.values()) >= 30
    types = Counter(item.type for _, item in story.items)
    assert set(types) == set(MemoryType)
    assert min(types.values()) >= 10
    assert max(types.values()) < len(story.items) / 2


def test_everybody_speaks(story: Story):
    voices = Counter(item.by for _, item in story.items)
    assert set(voices) == {PERSON, *(agent.name for agent in story.frame.agents)}
    assert min(voices.values()) >= 10


def test_what_is_pointed_at_exists(story: Story):
    ids = {item.id for _, item in story.items}
    assert len(ids) == len(story.items)
    frame = story.frame
    decided = [*frame.accepted, *frame.discarded, *frame.archived, *frame.edited]
    pointed = {tie.source for tie in frame.links} | {tie.target for tie in frame.links}
    pointed |= {decision.id for decision in decided}
    pointed |= {item.supersedes for _, item in story.items if item.supersedes}
    assert pointed <= ids


def test_a_chain_of_four_replaces_itself(story: Story):
    by_id = {item.id: item for _, item in story.items}
    chain = ["staging-4"]
    while before := by_id[chain[-1]].supersedes:
        chain.append(before)
    assert chain == ["staging-4", "staging-3", "staging-2", "staging-1"]
    assert all(by_id[new].days_ago < by_id[old].days_ago for new, old in pairwise(chain))


def test_drafts_wait_for_a_person(story: Story):
    waiting = {item.id for _, item in story.items if item.draft}
    decided = {decision.id for decision in (*story.frame.accepted, *story.frame.discarded)}
    assert decided <= waiting
    assert len(waiting - decided) >= 8


def test_no_text_is_said_twice_except_where_it_is_meant_to_be(story: Story):
    texts = Counter(content_fingerprint(item.text) for _, item in story.items)
    twice = [item.id for _, item in story.items if texts[content_fingerprint(item.text)] > 1]
    assert sorted(twice) == ["food-veg", "food-veg-twin"]
    ordered = sorted((content_fingerprint(item.text), item.id) for _, item in story.items)
    alike = [
        (one[1], other[1])
        for one, other in pairwise(ordered)
        if one[0] != other[0] and SequenceMatcher(None, one[0], other[0]).ratio() > 0.9
    ]
    # What waits on the review list of the sample vault.
    assert {frozenset(pair) for pair in alike} == {
        frozenset({"choir", "choir-evening"}),
        frozenset({"climbing-gym", "climbing-hall"}),
    }


def test_every_memory_is_one_a_caller_may_write(story: Story):
    for bank, item in story.items:
        draft = item.to_draft(bank, TODAY, None)
        assert draft.created_at is not None
        assert draft.created_at < TODAY
        assert len(draft.content) >= 10

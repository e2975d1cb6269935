"""The synthetic memories: the same every time, all different, and of a realistic length."""

from __future__ import annotations

import json
import statistics
from collections import Counter

from memories.management.bench.words import TOPICS, TYPES, Author
from memories.rules.drafts import MemoryDraft


def test_equal_seeds_write_equal_memories():
    assert [Author(3).memory(number) for number in (0, 7, 10**9)] == [
        Author(3).memory(number) for number in (0, 7, 10**9)
    ]
    assert Author(3).memory(7) != Author(4).memory(7)
    assert Author(3).question(7) == Author(3).question(7)


def test_memories_are_varied_and_about_as_long_as_real_ones():
    author = Author()
    memories = [author.memory(number) for number in range(2_000)]
    assert len({memory["content"] for memory in memories}) == len(memories)
    assert 200 < statistics.mean(len(memory["content"]) for memory in memories) < 300
    assert {memory["bank"] for memory in memories} == TOPICS.keys()
    assert {memory["type"] for memory in memories} == set(TYPES)
    assert len({memory["user_id"] for memory in memories}) > 10
    assert len({memory["created_at"][:7] for memory in memories}) > 20


def test_words_follow_zipfs_law():
    author = Author()
    words = Counter(word for number in range(2_000) for word in author.memory(number)["content"].lower().split())
    counts = sorted(words.values(), reverse=True)
    assert counts[0] > 50 * counts[len(counts) // 4]
    assert sum(1 for count in counts if count == 1) > len(counts) / 3


def test_every_memory_is_one_the_hub_accepts():
    author = Author()
    for number in range(200):
        MemoryDraft.model_validate_json(json.dumps(author.memory(number)))


def test_questions_are_made_of_the_memorys_own_words():
    author = Author()
    for number in range(100):
        content = author.memory(number)["content"]
        assert all(word in content for word in author.question(number).split())

"""Documents and observations of a hindsight transfer."""

from __future__ import annotations

import pytest

from memories.rules.exchange import FileRefused
from memories.rules.importers.hindsight import check_manifest, keys_of, read_document, read_observations
from memories.rules.importers.records import Foreign, Left, Tie
from memories.rules.vocabulary import MemoryCategory, MemoryType, Relation

DOCUMENT = {
    "id": "chat-1",
    "original_text": "Mara: …",
    "tags": ["chat"],
    "created_at": "2026-03-01T00:00:00Z",
    "facts": [
        {
            "text": "Mara moved to Linz in 2024.",
            "fact_type": "world",
            "occurred_start": "2024-05-01T00:00:00Z",
            "mentioned_at": "2026-03-02T00:00:00Z",
            "context": "small talk",
            "metadata": {"a": "1"},
            "entities": ["Mara", "Linz"],
        },
        {
            "text": "I told Mara about the tram.",
            "source_id": "u-7",
            "fact_type": "experience",
            "causal_relations": [{"relation_type": "caused_by", "target_fact_index": 0}],
        },
    ],
}


def test_facts_with_their_clocks_and_causes():
    first, second, left, tie = read_document(DOCUMENT)
    assert isinstance(first, Foreign) and isinstance(second, Foreign)
    assert (first.key, second.key) == ("chat-1#0", "u-7")
    assert first.values["event_at"] == "2024-05-01T00:00:00+00:00"
    assert first.values["created_at"] == "2026-03-02T00:00:00+00:00"
    assert second.values["created_at"] == "2026-03-01T00:00:00+00:00"
    assert first.values["extra"] == {"a": "1", "context": "small talk", "document_id": "chat-1"}
    assert (first.values["type"], second.values["type"]) == (MemoryType.FACT, MemoryType.EPISODIC)
    assert isinstance(left, Left) and left.code == "original_text"
    assert tie == Tie("u-7", "chat-1#0")


def test_observations_name_the_facts_they_come_from():
    rows = [{"text": "Mara lives in Linz.", "proof_count": 2, "sources": [{"document_id": "chat-1", "fact_index": 1}]}]
    found, tie = read_observations(rows, keys_of(DOCUMENT))
    assert isinstance(found, Foreign)
    assert (found.values["category"], found.values["extra"]["proof_count"]) == (MemoryCategory.SUMMARY, 2)
    assert tie == Tie("observation#0", "u-7", Relation.DERIVED_FROM)


@pytest.mark.parametrize("manifest", [{}, {"schema_version": 2}, [], None])
def test_another_version_is_refused(manifest: object):
    with pytest.raises(FileRefused, match="schema version 1"):
        check_manifest(manifest)


@pytest.mark.parametrize("document", [{}, 7, {"id": "x", "facts": [3, {"text": ""}]}])
def test_what_says_nothing_is_told(document: object):
    assert all(isinstance(one, Left) and one.wanted for one in read_document(document))

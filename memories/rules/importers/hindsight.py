"""hindsight: the zip of a bank or document transfer (``manifest.json``, ``documents/*.json``, ``observations.json``).

Read from vectorize-io/hindsight, ``hindsight_api/engine/transfer/schema.py``, archive schema version 1 (2026-09).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memories.rules.exchange import FileRefused
from memories.rules.importers.records import (
    Foreign,
    Left,
    Record,
    Tie,
    given,
    moment_of,
    objects_of,
    text_of,
    texts_of,
)
from memories.rules.vocabulary import MemoryCategory, MemoryType, Relation

FIELDS: Mapping[str, str] = {
    "text": "content",
    "source_id": "external_write_id",
    "fact_type": "type",
    "context": "extra",
    "occurred_start": "event_at",
    "event_date": "event_at",
    "mentioned_at": "created_at",
    "created_at": "created_at",
    "tags": "tags",
    "entities": "entities",
    "metadata": "extra",
    "occurred_end": "extra",
    "causal_relations": "links",
    "sources": "links",
    "proof_count": "extra",
}
SCHEMA_VERSION = 1
#: Members of the archive that say nothing a memory could hold, and what they are.
LEFT_OUT: Mapping[str, str] = {
    "mental_models.json": "holds mental models, which are written anew from memories",
    "knowledge_pages.json": "holds the tree of knowledge pages",
    "directives.json": "holds directives of the bank",
    "webhooks.json": "holds webhooks",
}
_TYPES = {"experience": MemoryType.EPISODIC, "opinion": MemoryType.PREFERENCE}


def check_manifest(manifest: Any) -> None:
    """Raises FileRefused for an archive that is none, or newer than this reader."""
    version = manifest.get("schema_version") if isinstance(manifest, dict) else None
    if version != SCHEMA_VERSION:
        raise FileRefused(f"This archive is no hindsight transfer of schema version {SCHEMA_VERSION}; export it again.")


def read_document(document: Any) -> Iterator[Record]:
    """The facts of one document, and what caused what among them. Its original text stays behind."""
    if not isinstance(document, dict) or text_of(document, "id") is None:
        yield Left("no_object", "is no document with an id", wanted=True)
        return
    facts = objects_of(document.get("facts"))
    keys = [_key(document, number, fact) for number, fact in enumerate(facts)]
    for key, fact in zip(keys, facts, strict=True):
        yield _fact(key, fact, document)
    if document.get("original_text") or document.get("chunks"):
        yield Left("original_text", "is the text a document was read from; its facts are imported")
    for key, fact in zip(keys, facts, strict=True):
        for relation in objects_of(fact.get("causal_relations")) if isinstance(fact, dict) else []:
            index = relation.get("target_fact_index") if isinstance(relation, dict) else None
            if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(keys):
                yield Tie(key, keys[index])


def read_observations(rows: Any, keys: Mapping[tuple[str, int], str]) -> Iterator[Record]:
    """What was consolidated from facts, tied to them; ``keys``: document and ordinal → the fact's id."""
    for number, row in enumerate(objects_of(rows)):
        key = text_of(row, "source_id") if isinstance(row, dict) else None
        key = key or f"observation#{number}"
        yield _fact(key, row, {})
        for source in objects_of(row.get("sources")) if isinstance(row, dict) else []:
            named: Any = (source.get("document_id"), source.get("fact_index")) if isinstance(source, dict) else None
            if named in keys:
                yield Tie(key, keys[named], Relation.DERIVED_FROM)


def keys_of(document: Any) -> dict[tuple[str, int], str]:
    """Document and ordinal → the fact's id, for the observations that name facts so."""
    if not isinstance(document, dict):
        return {}
    facts = objects_of(document.get("facts"))
    return {(str(document.get("id")), number): _key(document, number, fact) for number, fact in enumerate(facts)}


def _key(document: Mapping[str, Any], number: int, fact: Any) -> str:
    named = text_of(fact, "source_id") if isinstance(fact, dict) else None
    return named or f"{document.get('id')}#{number}"


def _fact(key: str, fact: Any, document: Mapping[str, Any]) -> Record:
    if not isinstance(fact, dict):
        return Left("no_object", "is no object", wanted=True)
    content = text_of(fact, "text")
    if content is None:
        return Left("no_text", "has no text", wanted=True)
    is_observation = "proof_count" in fact
    at = next(filter(None, (moment_of(fact.get(name)) for name in ("mentioned_at", "created_at", "event_date"))), None)
    metadata = fact.get("metadata")
    extra = dict(metadata) if isinstance(metadata, dict) else {}
    extra |= {name: fact[name] for name in ("context", "occurred_end", "proof_count") if fact.get(name) is not None}
    if text_of(document, "id"):
        extra["document_id"] = document["id"]
    values = {
        "content": content,
        "type": _TYPES.get(str(fact.get("fact_type")), MemoryType.FACT),
        "category": MemoryCategory.SUMMARY if is_observation else None,
        "tags": [*texts_of(fact.get("tags")), *texts_of(document.get("tags"))],
        "entities": texts_of(fact.get("entities")),
        "extra": extra,
        "event_at": moment_of(fact.get("occurred_start")) or moment_of(fact.get("event_date")),
        "created_at": at or moment_of(document.get("created_at")),
    }
    return Foreign(key, values, given(fact, FIELDS))

"""What the names of fields and parameters mean. One name means the same wherever it stands and says nothing else.

A field that says something of itself (``Field(description=…)``) is left alone, and so are the names whose meaning
depends on where they stand (``state``, ``count``): their shape's own description tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoryhub.lib.openapi.examples import example_id

type Json = dict[str, Any]

_MEMORY = {
    "content": "The text, 1 to 100,000 characters after trimming. Null where it cannot be opened any more.",
    "summary": "The first 200 characters at most, in the place of `content`.",
    "unreadable": "The content cannot be opened any more, for example after its key was destroyed.",
    "type": "What kind of knowledge it is.",
    "bank": "The topic it belongs to, by name (id and slug are understood where one is sent).",
    "banks": "Topics by name, slug or id; none given means every bank the key reaches.",
    "category": "Which shelf of a memory system it belongs to, if any.",
    "role": "Who said it.",
    "importance": "How much it matters, 1 to 5.",
    "confidence": "How sure it is, 1 to 5.",
    "entities": "People, places and things it is about.",
    "tags": "Free labels.",
    "fact_key": "Names what a fact is about, such as `user.home_city`; a newer fact under it replaces the older.",
    "namespace": "One to four parts; two namespaces never mix.",
    "scope": "`global` for all agents of the vault, `agent` for the one that wrote it.",
    "user_id": "Whom it is about, in the caller's own words.",
    "agent_id": "The agent it belongs to, by name or id.",
    "session_id": "The conversation it came from, by the caller's name of it.",
    "task_id": "The task it came from, in the caller's own words.",
    "extra": "Free JSON of the caller's own, at most 8 KiB and eight levels deep.",
    "source_kind": "Where it came from; decides how far it is trusted.",
    "trust": "How far its source is believed.",
    "external_write_id": "The caller's own id of the write; the same id again updates instead of adding.",
    "dedup": "Whether it is compared with what is there before it is stored.",
    "supersedes": "The older memory that it replaces.",
    "superseded_by": "The newer memory that replaced it.",
    "expires_at": "When it stops being found.",
    "event_at": "When what it tells happened.",
    "is_protected": "Clean-ups leave it alone.",
    "is_summarized": "It was written from several others.",
    "summarized_from": "What it was written from.",
    "index_state": "Whether search by meaning can find it yet.",
    "archived": "Hidden from recall; can be brought back.",
    "archived_at": "When it was archived.",
    "archived_reason": "Why it was archived.",
    "version": "Counts up with every change, from 1.",
    "last_accessed_at": "When it was last given out, to the minute.",
    "last_confirmed_at": "When the same was last said again.",
    "access_count": "How often it was given out, at most once a minute.",
    "similarity": "1 − cosine distance: higher is closer.",
}
_ASKING = {
    "q": 'Words and conditions: `bank:work -tag:tmp "exact phrase"`.',
    "query": "What is looked for, in plain language.",
    "limit": "How many at most.",
    "cursor": "Goes on where `next_cursor` of the answer before ended; belongs to its query and its key.",
    "before": "Goes on before this one; send what the answer before named.",
    "sort": "The order; `-` means descending.",
    "facets": "Labels to count by, separated by commas: `bank,type,tag`.",
    "compact": "Send `summary` in the place of `content`.",
    "created_after": "Only what was written at or after this moment.",
    "created_before": "Only what was written before this moment.",
    "min_importance": "Only what matters at least this much.",
    "min_trust": "Only what is trusted at least this far.",
    "tag": "A tag it carries; several mean all of them.",
    "entity": "Something it is about; several mean all of them.",
    "as_of": "Answer as it was then; with a time zone, and not to come.",
    "format": "`md` for Markdown.",
    "erase": "Remove for good instead of archiving.",
    "include_hidden": "Also banks that are hidden.",
    "include_archived": "Also what is archived.",
    "max_rounds": "How many rounds of question and answer at most.",
    "max_tokens": "How many tokens at most, by the hub's estimate.",
    "top_k": "How many hits at most.",
    "threshold": "The least similarity in meaning; words have no threshold.",
    "mode": "`keyword` asks no embedder.",
    "explain": "Also say how each score came about.",
    "dry_run": "Only show what would happen; nothing is changed.",
    "expected_count": "How many the caller has seen; any other number is refused.",
    "reason": "Why, in words or as a code.",
    "wait": "Seconds to wait for something to happen, 20 at most.",
    "types": "Events by name or family, separated by commas in an address: `memory.added,job.*`.",
    "against": "The version to compare with; without it the one before.",
    "signature": "A signature you kept, to compare with.",
    "period": "How far back.",
    "series": "Which counts; without it all of them.",
}
_ANSWERING = {
    "items": "The things asked for.",
    "next_cursor": "Send it as `cursor` for the next page; null at the end.",
    "prev_cursor": "Send it as `cursor` for the page before; null at the beginning.",
    "next_before": "Send it as `before` for the next page; null at the end.",
    "total": "How many there are in all.",
    "created_at": "When it was made.",
    "updated_at": "When it last changed.",
    "finished_at": "When it was done; null before.",
    "started_at": "When it began; null before.",
    "changeset_id": "The change it is part of, which can be undone as one.",
    "job_id": "The job that does it in the background; null when it is done already.",
    "actor_kind": "Who did it: a key, a user, or the hub itself.",
    "actor_id": "Which key or user did it.",
    "request_id": "The request it came from, as the log knows it.",
    "degraded": "What could not take part in this answer; empty when all did.",
    "took_ms": "How long it took, in milliseconds.",
    "memory_ids": "Ids of memories.",
    "missing": "Ids of which there is nothing here.",
    "markdown": "The same as Markdown.",
    "tokens": "Tokens, by the hub's estimate.",
    "outcome": "What became of it.",
    "duplicate_of": "The memory that already said it.",
    "superseded_id": "The memory that was replaced by this write.",
    "similar_to": "The closest memory that was compared.",
    "pair_id": "The pair that waits in the review list because of this write.",
    "decided_by": "Which rule decided.",
    "error": "What went wrong; empty when nothing did.",
    "plan_hash": "Stands for exactly what is chosen now; send it to apply the plan.",
    "query_mistakes": "What of `q` could not be understood and was left out.",
}
MEANINGS: Mapping[str, str] = {**_ANSWERING, **_ASKING, **_MEMORY}

#: Names that only say something in the shape they stand in; other shapes use them for something else.
_ELSEWHERE: Mapping[str, frozenset[str]] = {
    name: frozenset({"MemoryOut", "Memory", "Hit", "MemoryDraft", "MemoryChanges", "MemoryFilter", "SearchQuery",
                     "AbsenceQuery", "ContextQuery"})
    for name in ("content", "summary", "type", "version", "scope", "query", "archived", "role", "summarized_from")
}  # fmt: skip

#: Parameters that choose by what is told elsewhere in its own way.
_CHOOSING = {
    "state": "Only those in this state.",
    "kind": "Only those of this kind.",
    "status": "Only those with this status; `any` for all.",
    "result": "Only those that ended like this.",
    "outcome": "Only those of which this became.",
    "ticked": "Only those that are chosen, or only those that are not.",
    "cluster_id": "Only those of this cluster.",
    "refused": "Only those an undo left as they are with this code.",
    "after": "Goes on after this event: the `next` of the answer before. `now` only tells where the stream stands.",
    "scope": "Whose turns: the conversation's, or all of its user or task.",
    "type": "Kinds of knowledge; several mean any of them.",
    "category": "Shelves of a memory system; several mean any of them.",
    "role": "Who said it; several mean any of them.",
    "reason": "Only those that this rule names.",
    "archived": "What is archived is hidden (`false`), shown alone (`true`) or shown too (`any`).",
}

#: The ids of addresses.
_OF_ADDRESS: Mapping[str, tuple[str, Any]] = {
    "memory_id": ("The id of a memory.", example_id("memory_id")),
    "bank_id": ("The id, the slug or the name of a bank.", "personal"),
    "agent_id": ("The id of an agent.", example_id("agent_id")),
    "key_id": ("The id of a key.", example_id("key_id")),
    "sid": ("The caller's own name of the conversation.", "monday"),
    "date": ("A day (UTC).", "2026-11-21"),
    "version": ("The number of a version.", 3),
    "pair_id": ("The id of a pair.", example_id("pair_id")),
    "plan_id": ("The id of a clean-up plan.", example_id("plan_id")),
    "changeset_id": ("The id of a changeset.", example_id("changeset_id")),
    "job_id": ("The id of a job.", example_id("job_id")),
    "import_id": ("The id of an import.", example_id("import_id")),
    "receipt_id": ("The id of a receipt.", example_id("receipt_id")),
    "webhook_id": ("The id of a webhook.", example_id("webhook_id")),
    "delivery_id": ("The id of a delivery.", example_id("delivery_id")),
    "dream_id": ("The id of a dream.", example_id("dream_id")),
}


def described_parameter(parameter: Json) -> Json:
    """The parameter with its meaning, said beside its schema and not once more inside."""
    name, schema = parameter["name"], dict(parameter["schema"])
    said = None if "enum" in schema or "$ref" in schema else schema.pop("description", None)
    if parameter["in"] == "path":
        meaning, example = _OF_ADDRESS[name]
        return {**parameter, "schema": schema, "description": said or meaning, "example": example}
    return {**parameter, "schema": schema, "description": said or _CHOOSING.get(name) or MEANINGS.get(name, "")}


def describe_fields(schemas: Mapping[str, Json]) -> None:
    """Give every field without a description of its own the meaning of its name."""
    for shape, schema in schemas.items():
        for name, field in schema.get("properties", {}).items():
            if name in MEANINGS and "description" not in field and shape in _ELSEWHERE.get(name, {shape}):
                field["description"] = MEANINGS[name]

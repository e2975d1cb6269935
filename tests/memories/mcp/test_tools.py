"""Each tool as a model calls it: arguments in both spellings, lean answers, errors it can act on."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
from jsonschema import validate

from banks.access import Access
from memories.mcp.calling import MISTAKES_TOLD
from memories.mcp.tools import TOOLS
from memories.models import Memory
from memories.services.running import run_job
from tests.factories import remember


def test_write_find_correct(call):
    """The seed's own example: a correction by `supersededById` archives the old and is found instead."""
    first = call(
        "write_memory",
        {
            "content": "The project uses Next.js 15 with App Router",
            "memoryType": "fact",
            "importance": 4,
            "confidence": 5,
            "entities": ["Next.js"],
            "dedup": True,
            "externalWriteId": "agent:run123:fact:stack",
        },
    )["structuredContent"]
    assert first["outcome"] == "created"
    second = call(
        "write_memory",
        {"content": "The project moved to SvelteKit", "memory_type": "correction", "supersededById": first["id"]},
    )["structuredContent"]
    assert (second["outcome"], second["superseded_id"]) == ("superseded", first["id"])
    hits = call("search_memories", {"query": "which framework does the project use"})["structuredContent"]["results"]
    assert [hit["id"] for hit in hits] == [second["id"]]
    archived = call("search_memories", {"query": "framework project", "includeArchived": True, "compact": True})
    assert {hit["id"] for hit in archived["structuredContent"]["results"]} == {first["id"], second["id"]}
    assert all("summary" in hit and "content" not in hit for hit in archived["structuredContent"]["results"])


def test_writing_twice_with_one_id_is_one_memory(call):
    """IDM: an external id makes it an upsert."""
    for content in ("Tea at four", "Tea at five"):
        call("write_memory", {"content": content, "external_write_id": "tea"})
    assert Memory.objects.count() == 1


def test_update_notices_a_change_in_between(call):
    """A stale version is refused with the present one."""
    memory = call("write_memory", {"content": "Office is in Oslo"})["structuredContent"]
    assert (
        call("update_memory", {"memoryId": memory["id"], "importance": 5, "expectedVersion": 1})["structuredContent"][
            "version"
        ]
        == 2
    )
    stale = call("update_memory", {"memoryId": memory["id"], "content": "Office is in Bergen", "expected_version": 1})
    assert stale["isError"] and stale["structuredContent"]["code"] == "stale_version"
    assert "version 2" in stale["content"][0]["text"]


def test_archive_and_bring_back(call):
    """archived is true by default."""
    memory = call("write_memory", {"content": "The cat is called Miso"})["structuredContent"]
    assert call("archive_memory", {"memoryId": memory["id"], "reason": "moved out"})["structuredContent"]["archived"]
    assert call("search_memories", {"query": "cat Miso"})["structuredContent"]["results"] == []
    assert not call("archive_memory", {"memoryId": memory["id"], "archived": False})["structuredContent"]["archived"]


def test_cleaning_up_looks_first(call, access: Access):
    """CLN-06, DESIGN §8: dryRun is true by default and changes nothing; false archives through a job."""
    old = remember(access, "We met once", type="episodic", importance=1, created_at="2020-01-01T00:00:00Z")
    looked = call("cleanup_memories")["structuredContent"]
    assert (looked["dry_run"], looked["count"]) == (True, 1)
    assert [one["id"] for one in looked["candidates"]] == [str(old.pk)]
    old.refresh_from_db()
    assert not old.archived
    for number in range(9):
        remember(access, f"Room {number} has a window", dedup=False)
    done = call("cleanup_memories", {"dryRun": False, "rules": ["stale_episodic"]})["structuredContent"]
    run_job(UUID(done["job_id"]))
    assert list(Memory.objects.exclude(archived_at=None)) == [old]


def test_banks(call):
    """BNK-09: names and what they are for, the default marked."""
    banks = call("list_banks")["structuredContent"]["banks"]
    assert [bank["name"] for bank in banks if bank["default"]] == ["General"]
    assert call("list_banks", {"all": True})["isError"]


@pytest.mark.parametrize("tool", sorted(TOOLS))
@pytest.mark.parametrize(
    "arguments", [{"nonsense": 1}, {"query": 7, "content": [], "ids": {}, "memoryId": 2}, {"content": "\x00"}]
)
def test_wrong_arguments_are_told_field_by_field(call, tool: str, arguments: dict[str, object]):
    """The model reads what to change."""
    result = call(tool, arguments)
    assert result["isError"]
    assert result["structuredContent"]["code"] == "invalid"
    assert result["structuredContent"]["errors"]


def test_mistakes_are_told_in_the_words_of_the_caller(call):
    """Not in those of the fields behind: a model looks for what it wrote."""
    schemas = call("search_memories", {"query": "x", "topK": 500})["structuredContent"]["errors"]
    assert schemas == ["/topK: Input should be less than or equal to 200"]
    own = call("search_memories", {"query": "x", "top_k": 500})["structuredContent"]["errors"]
    assert own[0].startswith("/top_k: ")
    assert call("update_memory", {"content": "x"})["structuredContent"]["errors"] == ["/memoryId: Field required"]
    unknown = call("archive_memory", {"memoryId": "x", "nonsense": 1})["structuredContent"]["errors"]
    assert unknown == ["/nonsense: no such argument; there are memoryId, archived, reason"]
    many = call("read_memories", {"ids": [7] * 150})["structuredContent"]["errors"]
    assert len(many) == MISTAKES_TOLD


def test_answers_keep_the_shape_that_is_promised(call, access: Access):
    """Text and structure say the same, and the structure fits the tool's schema, also when it tells an error."""
    memory = call("write_memory", {"content": "The cellar key hangs by the clock"})["structuredContent"]
    calls: list[tuple[str, dict[str, object]]] = [
        ("write_memory", {"content": "The cellar key hangs by the clock"}),
        ("search_memories", {"query": "cellar key"}),
        ("search_memories", {"query": "cellar key", "compact": True}),
        ("read_memories", {"ids": [memory["id"], "nowhere"]}),
        ("update_memory", {"memoryId": memory["id"], "importance": 4}),
        ("archive_memory", {"memoryId": memory["id"]}),
        ("cleanup_memories", {}),
        ("list_banks", {}),
    ]
    assert {name for name, _ in calls} == set(TOOLS)
    for name, arguments in calls:
        for result in (call(name, arguments), call(name, {"nonsense": 1})):
            validate(result["structuredContent"], TOOLS[name].answers)
            if not result["isError"]:
                assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
                assert set(TOOLS[name].answers["properties"]) <= set(result["structuredContent"])


def test_the_schemas_promise_what_the_bodies_take(call, access: Access):
    """Every property of every schema is known to its body, in camelCase and in snake_case."""
    for tool in TOOLS.values():
        for name in tool.schema["properties"]:
            snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
            for spelled in {name, snake}:
                result = call(tool.name, {spelled: None})
                assert not any("extra_forbidden" in error for error in result["structuredContent"].get("errors", []))
                assert "Extra inputs" not in result["content"][0]["text"], (tool.name, spelled)


@pytest.mark.parametrize("name", ["banks", "type", "category", "userId", "tag"])
def test_a_filter_by_nothing_is_no_search_of_everything(call, access: Access, name: str):
    remember(access, "Mara likes tea")
    answer = call("search_memories", {"query": "tea", name: []})
    assert answer["isError"] and "Mara" not in str(answer)

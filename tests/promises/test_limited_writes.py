"""What lies in a bank a key does not reach decides nothing about its writes: no answer confirms a guess.

At every door a text that is there, out of reach, is answered word by word like one that is nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from banks.access import Access
from memories.models import Memory
from memories.rules.settings import Level
from memories.services.settings import write_setting
from tests import factories
from tests.conftest import ApiClient
from tests.memories.mcp.conftest import post

THERE = "The alarm code is 4711."
NOWHERE = "Grandfather asked for walnut cake."
LATER = "2030-01-01T00:00:00Z"

type Said = tuple[int, Any]


@pytest.fixture
def limited(access: Access) -> ApiClient:
    """A key of Work, in a vault whose bank Health holds a text."""
    write_setting(access, Level.VAULT, "mem0_api", True)
    factories.remember(access, THERE, bank="Health", expires_at=LATER)
    return ApiClient(factories.make_key(access, banks=["Work"])[1])


def by_rest(api: ApiClient, text: str) -> Said:
    answer = api.send("POST", "/memories", {"content": text, "bank": "Work"})
    return answer.status_code, answer.json()


def in_a_batch(api: ApiClient, text: str) -> Said:
    answer = api.send("POST", "/memories/batch", {"items": [{"content": text, "bank": "Work"}] * 2})
    return answer.status_code, answer.json()


def by_mcp(api: ApiClient, text: str) -> Said:
    answer = post(api, "tools/call", {"name": "write_memory", "arguments": {"content": text}})
    return answer.status_code, answer.json()["result"]


def as_a_fact(api: ApiClient, text: str) -> Said:
    answer = api.send("POST", "/api/facts", {"fact_text": text, "memory_bank": "Work"})
    return answer.status_code, answer.json()


def by_mem0(api: ApiClient, text: str) -> Said:
    body = {"messages": [{"role": "user", "content": text}], "user_id": "mara"}
    answer = api.post("/compat/mem0/memories", json.dumps(body), content_type="application/json")
    return answer.status_code, answer.json()


def by_editing(api: ApiClient, text: str) -> Said:
    made = api.send("POST", "/memories", {"content": "Something else.", "bank": "Work", "dedup": True}).json()
    answer = api.send("PATCH", f"/memories/{made['memory']['id']}", {"content": text})
    return answer.status_code, answer.json()


def worded(said: Said) -> str:
    """An answer without what differs by chance."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", f"{said}")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "AT", text)
    text = re.sub(r"[0-9a-f]{32}", "MD5", text)
    return text.replace(THERE, NOWHERE)


DOORS = {
    "REST": by_rest,
    "a batch": in_a_batch,
    "MCP": by_mcp,
    "facts": as_a_fact,
    "mem0": by_mem0,
    "an edit": by_editing,
}


@pytest.mark.parametrize("door", DOORS)
def test_a_text_out_of_reach_is_answered_like_one_that_is_nowhere(
    access: Access, limited: ApiClient, door: str
) -> None:
    """BNK-02, DUP-28: the first time, and again when the key's own copy is there."""
    say: Callable[[ApiClient, str], Said] = DOORS[door]
    if door == "mem0":  # it writes to the default bank, for a user
        factories.remember(access, THERE, bank="Health", user_id="mara")
        limited = ApiClient(factories.make_key(access, banks=["General"])[1])
    assert worded(say(limited, THERE)) == worded(say(limited, NOWHERE))
    assert worded(say(limited, THERE)) == worded(say(limited, NOWHERE))
    mine = Memory.objects.exclude(bank__name="Health")
    assert [row.content for row in mine.order_by("doc_no")].count(THERE) == 1
    untouched = Memory.objects.filter(bank__name="Health")
    assert {(row.version, row.archived, row.last_confirmed_at) for row in untouched} == {(1, False, None)}


def test_bringing_back_is_no_oracle_either(access: Access) -> None:
    """A memory of Work comes back, though Health holds its text by now."""
    api = ApiClient(factories.make_key(access, banks=["Work"])[1])
    said = []
    for text in (THERE, NOWHERE):
        address = f"/memories/{api.send('POST', '/memories', {'content': text, 'bank': 'Work'}).json()['memory']['id']}"
        assert api.send("POST", f"{address}/archive", {"archived": True}).status_code == 200
        if text == THERE:
            factories.remember(access, THERE, bank="Health")
        answer = api.send("POST", f"{address}/archive", {"archived": False})
        said.append((answer.status_code, answer.json()))
    assert said[0][0] == 200
    assert worded(said[0]) == worded(said[1])


def test_who_reaches_both_banks_still_writes_nothing_twice(access: Access) -> None:
    """DUP-01: without a limit the whole vault is what there is, by writing, editing and bringing back."""
    api = ApiClient(factories.make_key(access)[1])
    health = factories.remember(access, THERE, bank="Health")
    again = by_rest(api, THERE)
    assert (again[0], again[1]["outcome"], again[1]["duplicate_of"]) == (200, "duplicate", str(health.pk))
    assert (by_editing(api, THERE)[0], by_editing(api, THERE)[1]["code"]) == (409, "duplicate_content")

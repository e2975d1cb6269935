"""What was valid then: the memories, the words and the labels of an earlier moment, and nothing that came later."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import time_machine

from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, Presence, SearchQuery, Sort, StatusFilter
from memories.rules.vocabulary import Status
from memories.search import asof
from memories.search.asof import TooMuchChanged
from memories.search.filtering import matching
from memories.search.listing import list_memories
from memories.search.recall import search_memories
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory, change_status
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Invalid
from memoryhub.lib.sealing import Sealed
from tests.conftest import ApiClient
from tests.factories import access_of, make_key, remember, write


@pytest.fixture
def clock():
    """Turns forward when told; everything here happens in March 2026."""
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as traveller:
        yield traveller


def tick(clock, **step: Any) -> dt.datetime:
    """The moment before the clock turns."""
    before = now()
    clock.shift(dt.timedelta(**step or {"days": 1}))
    return before


def said(access, at, **more) -> dict[str, int]:
    """Content → version of what is found at ``at``."""
    query = SearchQuery.parse({"query": "zeppelin", "threshold": 0.0, "as_of": at, **more})
    return {hit.memory.content: hit.memory.version for hit in search_memories(access, query).hits}


def listed(access, at, **more) -> list[str]:
    page = list_memories(access, MemoryFilter.parse({"as_of": at, **more}), Sort.OLDEST)
    assert page.total == len(page.items)
    return [row.content for row in page.items]


def edit(access, memory, **changes):
    return update_memory(access, memory.pk, MemoryChanges.parse(changes))


def test_an_edited_memory_says_what_it_said(access, clock):
    """DESIGN §5: every version at the moments it held, and nothing of what came later."""
    before = tick(clock)
    memory = remember(access, "the zeppelin is in Oslo", importance=2)
    first = tick(clock)
    edit(access, memory, content="the zeppelin is in Bergen", importance=5)
    second = tick(clock)
    edit(access, memory, content="the zeppelin is in Rome")
    assert said(access, before) == {}
    assert said(access, first) == {"the zeppelin is in Oslo": 1}
    assert said(access, second) == {"the zeppelin is in Bergen": 2}
    assert said(access, now()) == {"the zeppelin is in Rome": 3}
    assert [listed(access, at) for at in (before, first, second)] == [
        [],
        ["the zeppelin is in Oslo"],
        ["the zeppelin is in Bergen"],
    ]
    page = list_memories(access, MemoryFilter(as_of=second))
    assert (page.items[0].importance, page.items[0].updated_at) == (5, first + dt.timedelta(days=1))
    assert list_memories(access, MemoryFilter(as_of=first)).items[0].updated_at == memory.created_at
    assert Memory.objects.get().content == "the zeppelin is in Rome"


def test_what_was_replaced_later_was_valid_then(access, clock):
    """SUP-07: each member of a chain in its own time, alone."""
    moments, memory = [], remember(access, "zeppelin one")
    for text in ("zeppelin two", "zeppelin three"):
        moments.append(tick(clock))
        memory = write(access, text, supersedes=str(memory.pk)).memory
    moments.append(tick(clock))
    assert [list(said(access, at)) for at in moments] == [["zeppelin one"], ["zeppelin two"], ["zeppelin three"]]
    then = SearchQuery(query="zeppelin", as_of=moments[1], include_archived=True, threshold=0.0)
    assert {hit.memory.content for hit in search_memories(access, then).hits} == {"zeppelin one", "zeppelin two"}


def test_archived_and_restored(access, clock):
    """MOD-16: hidden for as long as it was hidden."""
    memory = remember(access, "zeppelin")
    shown = tick(clock)
    archive_memory(access, memory.pk)
    hidden = tick(clock)
    archive_memory(access, memory.pk, archived=False)
    again = tick(clock)
    archive_memory(access, memory.pk)
    assert [list(said(access, at)) for at in (shown, hidden, again, now())] == [["zeppelin"], [], ["zeppelin"], []]
    assert listed(access, hidden, archived="true") == ["zeppelin"]
    assert listed(access, again, archived="true") == []


def test_drafts_expiry_and_discarded(access, clock):
    """STA-09: as it stood in review then, and expired by the clock of then."""
    memory = remember(access, "zeppelin", status="draft", expires_at=now() + dt.timedelta(days=3))
    draft = tick(clock)
    change_status(access, memory.pk, Status.ACCEPTED)
    accepted = tick(clock)
    change_status(access, memory.pk, Status.DISCARD)
    tick(clock, days=30)
    assert [list(said(access, at)) for at in (draft, accepted, now())] == [[], ["zeppelin"], []]
    assert list(said(access, draft, status="draft")) == ["zeppelin"]
    assert said(access, accepted + dt.timedelta(days=10), status="any") == {}


def test_a_moment_before_a_change_and_the_moment_of_it(access, clock):
    """A change holds from its own moment on."""
    memory = remember(access, "zeppelin old")
    assert list(said(access, now())) == ["zeppelin old"]
    tick(clock)
    edit(access, memory, content="zeppelin new")
    assert list(said(access, now())) == ["zeppelin new"]
    assert list(said(access, now() - dt.timedelta(microseconds=1))) == ["zeppelin old"]


def test_an_erased_memory_never_was(access, clock):
    """ERA-01: nothing brings it back."""
    memory = remember(access, "zeppelin")
    before = tick(clock)
    erase_memory(access, memory.pk)
    assert said(access, before) == {}
    assert listed(access, before, archived="any", status="any") == []


WAS = {
    "type": "skill",
    "category": "episodic",
    "role": "tool",
    "importance": 5,
    "tags": ["x", "y"],
    "entities": ["Ada"],
    "user_id": "u",
    "session_id": "s",
    "task_id": "t",
    "fact_key": "k",
    "is_protected": True,
    "bank": "Health",
    "trust": "inferred",
}
IS = {
    **WAS,
    **{"type": "fact", "category": None, "role": "ai", "importance": 1, "tags": [], "entities": ["Bob"]},
    **{"user_id": "v", "session_id": None, "task_id": "z", "fact_key": None, "is_protected": False, "bank": "Work"},
    "trust": "untrusted",
}
FILTERS: list[dict[str, Any]] = [
    *({"type": [value]} for value in ("skill", "fact")),
    *({"category": [value]} for value in ("episodic", "semantic")),
    *({"role": [value]} for value in ("tool", "ai")),
    *({"min_importance": value} for value in (1, 5)),
    *({"tag": value} for value in (["x"], ["y", "x"], ["z"])),
    *({"entity": [value]} for value in ("Ada", "Bob")),
    *({"user_id": [value]} for value in ("u", "v")),
    *({"session_id": [value]} for value in ("s", "z")),
    *({"task_id": [value]} for value in ("t", "z")),
    *({"fact_key": value} for value in ("k", "z")),
    *({"is_protected": value} for value in (True, False)),
    *({"bank": [value]} for value in ("Health", "Work")),
    *({"min_trust": value} for value in ("untrusted", "inferred", "stated")),
    *({"status": value} for value in StatusFilter),
    *({"archived": value} for value in Presence),
    {},
]


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_a_filter_meant_then_what_it_means_now(access, clock, wanted):
    """MOD-12: what SQL says of today's labels and what is read from a revision agree, for every filter."""
    memory = remember(access, "zeppelin", **{name: value for name, value in WAS.items() if name != "trust"})
    passes_now = matching(access, MemoryFilter.parse(wanted)).exists()
    at = tick(clock)
    edit(access, memory, content="zeppelin two", **IS)
    assert matching(access, MemoryFilter.parse({**wanted, "as_of": at})).exists() == passes_now
    later = matching(access, MemoryFilter.parse({**wanted, "as_of": now()})).exists()
    assert later == matching(access, MemoryFilter.parse(wanted)).exists()


def test_a_time_in_another_bank_stays_there(access, clock):
    """BNK-02: a key limited to banks does not read through `as_of` what lay elsewhere."""
    memory = remember(access, "zeppelin diagnosis", bank="Health")
    then = tick(clock)
    edit(access, memory, content="zeppelin appointment", bank="Work")
    limited = access_of(make_key(access, banks=["Work"])[1])
    assert (list(said(access, then)), said(limited, then)) == (["zeppelin diagnosis"], {})
    assert listed(limited, then, archived="any", status="any") == []
    assert list(said(limited, now())) == ["zeppelin appointment"]


def test_a_version_that_does_not_open_is_not_guessed(access, clock):
    """ENC-20, DEF-10: the others are answered."""
    broken, whole = remember(access, "zeppelin broken"), remember(access, "zeppelin whole")
    then = tick(clock)
    for memory in (broken, whole):
        edit(access, memory, importance=5)
    broken.revisions.update(before=Sealed(b"M\x01broken"))
    assert list(said(access, then)) == ["zeppelin whole"]


def test_text_that_was_unreadable_is_counted(access, clock):
    """ENC-20: a revision keeps that its text did not open."""
    memory = remember(access, "zeppelin")
    Memory.objects.filter(pk=memory.pk).update(content=Sealed(b"M\x01broken"))
    then = tick(clock)
    edit(access, memory, content="zeppelin mended")
    answer = search_memories(access, SearchQuery(query="zeppelin", as_of=then, threshold=0.0))
    assert (answer.hits, answer.unreadable) == ([], 1)


def test_ids_are_sent_twice_however_many_filters_there_are(access, clock):
    """SRC-18: what changed since costs a statement one condition, not one for each filter."""
    memories = [remember(access, f"zeppelin {n}", importance=n) for n in (1, 5)]
    then = tick(clock)
    for memory in memories:
        edit(access, memory, importance=3)
    found = matching(access, MemoryFilter(as_of=then, min_importance=4, type=["fact"]))
    assert [row.content for row in found] == ["zeppelin 5"]
    _, params = found.query.sql_with_params()
    assert sum(str(param).count(str(memories[1].pk)) for param in params) == 2


def test_there_is_an_end_to_looking_back(access, clock, monkeypatch):
    """An answer that would be wrong is refused, and the refusal says how to narrow it."""
    monkeypatch.setattr(asof, "CHANGED_MAX", 1)
    memories = [remember(access, f"zeppelin {n}", namespace=[str(n)]) for n in range(2)]
    then = tick(clock)
    for memory in memories:
        edit(access, memory, importance=5)
    with pytest.raises(TooMuchChanged):
        said(access, then)
    assert list(said(access, then, namespace=["1"])) == ["zeppelin 1"]


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        ("2026-03-01T12:00:00", "needs_time_zone"),
        ("2026-03-01", "needs_time_zone"),
        ("2026-03-02T00:00:00Z", "in_the_future"),
        ("2026-03-01T23:00:00-05:00", "in_the_future"),
        ("2026-02-01T12:00:00 02:00", "moment"),
        ("yesterday", "moment"),
        ("", "moment"),
        (1_700_000_000, "datetime_type"),
        (True, "datetime_type"),
    ],
)
def test_a_moment_must_be_one_that_has_been(access, clock, moment, code):
    """API-17: with its time zone, since another day is another answer."""
    for asked in ({"query": "x"}, {}):
        with pytest.raises(Invalid) as caught:
            (SearchQuery if asked else MemoryFilter).parse({**asked, "asOf": moment})
        (error,) = caught.value.errors
        assert (error.pointer, error.code) == ("/as_of", code)


def test_any_zone_will_do(clock):
    """MOD-47."""
    assert SearchQuery.parse({"query": "x", "as_of": "2026-03-01T13:30:00+02:00"}).as_of == dt.datetime(
        2026, 3, 1, 11, 30, tzinfo=dt.UTC
    )


def test_over_http(access, api: ApiClient):
    """API-06: the answer says which moment and which version; lists take it too, where it can be kept."""
    memory = api.send("POST", "/memories", {"content": "the zeppelin is in Oslo"}).json()["memory"]
    at = memory["created_at"]
    api.send("PATCH", f"/memories/{memory['id']}", {"content": "the zeppelin is in Rome"})
    answer = api.send("POST", "/memories/search", {"query": "zeppelin", "as_of": at}).json()
    assert (answer["as_of"], [(hit["content"], hit["version"]) for hit in answer["results"]]) == (
        at,
        [("the zeppelin is in Oslo", 1)],
    )
    assert api.send("POST", "/memories/search", {"query": "zeppelin"}).json()["as_of"] is None
    page = api.send("GET", f"/memories?as_of={at}").json()
    assert [(item["content"], item["version"]) for item in page["items"]] == [("the zeppelin is in Oslo", 1)]
    for more, field in (("sort=-updated_at", "/sort"), ("facets=bank", "/facets")):
        refused = api.send("GET", f"/memories?as_of={at}&{more}")
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, field)


def test_a_successor_of_later_is_not_named(access, api: ApiClient):
    """SUP-07: a chain is shown as far as it reached."""
    old = remember(access, "zeppelin old")
    head = write(access, "zeppelin new", supersedes=str(old.pk)).memory
    at = old.created_at.isoformat().replace("+00:00", "Z")
    (hit,) = api.send("POST", "/memories/search", {"query": "zeppelin", "asOf": at}).json()["results"]
    assert (hit["id"], hit["superseded_by"], hit["archived"], hit["status"]) == (str(old.pk), None, False, "accepted")
    assert str(head.pk) not in str(hit)

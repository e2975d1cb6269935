"""Daily notes, core document and dreams over REST: JSON and Markdown, and who may read a line (TIE-03…07, 18…20)."""

from __future__ import annotations

from typing import Any

import pytest

from banks.access import Access, KeyScope
from memories.models import Memory
from memories.services.running import run_job
from tests.conftest import ApiClient
from tests.factories import converse, day_of, dreamt_of, make_key, remember

pytestmark = pytest.mark.django_db

LEEDS = "The user lives in Leeds."


def told(api: ApiClient, access: Access, said: str, sid: str = "kitchen", **more: Any) -> str:
    """A conversation that was flushed and read; the day of its note."""
    session = converse(access, sid, said, **more)
    run_job(api.send("POST", f"/sessions/{sid}/flush").json()["job_id"])
    return day_of(session).isoformat()


def dreamt(api: ApiClient, **body: Any) -> dict[str, Any]:
    asked = api.send("POST", "/dreams", body)
    assert asked.status_code == 202, asked.content
    run_job(asked.json()["job_id"])
    found: dict[str, Any] = api.get(f"/api/v1/dreams/{asked.json()['id']}").json()
    return found


def test_a_day_in_three_tiers(api: ApiClient, access: Access):
    """TIE-01: said, noted, kept."""
    day = told(api, access, "I live in Leeds.", user_id="u1")
    memory = Memory.objects.get()
    assert api.get("/api/v1/daily").json() == {
        "namespace": ["default"],
        "items": [{"date": day, "lines": 1, "updated_at": api.get("/api/v1/daily").json()["items"][0]["updated_at"]}],
        "next_before": None,
    }
    note = api.get(f"/api/v1/daily/{day}").json()
    (line,) = note["lines"]
    assert (line["kind"], line["text"], line["session_id"]) == ("new", LEEDS, "kitchen")
    assert line["memory_ids"] == [str(memory.pk)]
    entry = dreamt(api)
    assert (entry["state"], entry["version_after"], entry["lookback_days"]) == ("done", 1, 3)
    assert [(change["what"], change["text"], change["why"]) for change in entry["changes"]] == [
        ("added", LEEDS, "important or often said, and sure")
    ]
    document = api.get("/api/v1/core-document").json()
    assert (document["version"], document["newest"]) == (1, 1)
    assert document["lines"] == [{"text": LEEDS, "bank": "Personal", "agent_id": None, "memory_ids": [str(memory.pk)]}]
    assert [one["id"] for one in api.get("/api/v1/dreams").json()["items"]] == [entry["id"]]


@pytest.mark.parametrize("way", ["query", "header"])
def test_as_markdown(api: ApiClient, access: Access, way: str):
    """TIE-03, TIE-04, CON-19: the files of the seed, by ?format=md or the Accept header."""
    day = told(api, access, "I live in Leeds.")
    entry = dreamt(api)

    def text(path: str) -> str:
        asked: dict[str, Any] = (
            {"headers": {"Accept": "text/markdown"}} if way == "header" else {"query_params": {"format": "md"}}
        )
        answer = api.get(f"/api/v1{path}", **asked)
        assert answer["Content-Type"] == "text/markdown; charset=utf-8"
        return answer.content.decode()

    note = text(f"/daily/{day}")
    assert note.startswith(f"# {day}\n\n## ")
    assert note.endswith(f" · kitchen\n\n- {LEEDS}\n")
    assert text("/core-document") == f"# Memory\n\n## Personal\n\n- {LEEDS}\n"
    diary = text(f"/dreams/{entry['id']}")
    assert f"- {LEEDS} *(important or often said, and sure)*" in diary
    assert "The core document went from version 0 to 1." in diary


def test_versions_differ_and_come_back(api: ApiClient, access: Access):
    """DEF-19, TIE-18: history, difference, the way back."""
    told(api, access, "I live in Leeds.")
    dreamt(api)
    told(api, access, "I work as a nurse.", sid="s2")
    dreamt(api)
    versions = api.get("/api/v1/core-document/versions").json()["items"]
    assert [one["version"] for one in versions] == [2, 1]
    diff = api.get("/api/v1/core-document/versions/2/diff").json()
    assert (diff["before"], diff["after"]) == (1, 2)
    assert diff["changes"] == [{"before": None, "after": "The user works as a nurse."}]
    back = api.get("/api/v1/core-document/versions/1/diff", {"against": 2}).json()["changes"]
    assert back == [{"before": "The user works as a nurse.", "after": None}]
    restored = api.send("POST", "/core-document/versions/1/restore").json()
    assert (restored["version"], [line["text"] for line in restored["lines"]]) == (3, [LEEDS])
    assert api.get("/api/v1/core-document/versions/2").json()["lines"][1]["text"] == "The user works as a nurse."
    assert api.send("POST", "/core-document/versions/9/restore").status_code == 404


def test_namespaces_are_named(api: ApiClient, access: Access):
    """TIE-20."""
    day = told(api, access, "I live in Leeds.", namespace=["home", "u1"])
    here = {"namespace": ["home", "u1"]}
    assert dreamt(api)["reason"] == "nothing_noted"
    assert dreamt(api, **here)["state"] == "done"
    assert api.get(f"/api/v1/daily/{day}").status_code == 404
    assert api.get(f"/api/v1/daily/{day}", here).status_code == 200
    assert api.get("/api/v1/core-document").json()["lines"] == []
    assert len(api.get("/api/v1/core-document", here).json()["lines"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/dreams", {"lookback_days": 0}),
        ("POST", "/dreams", {"lookback_days": 31}),
        ("POST", "/dreams", {"lookback_days": True}),
        ("POST", "/dreams", {"namespace": []}),
        ("POST", "/dreams", {"days": 3}),
        ("GET", "/daily/yesterday", None),
        ("GET", "/daily/1700000000", None),
        ("GET", "/daily/2026-02-30", None),
        ("GET", "/daily?before=0", None),
        ("GET", "/core-document/versions/-1", None),
        ("GET", "/core-document/versions/99999999999", None),
        ("GET", "/core-document?format=pdf", None),
    ],
)
def test_what_cannot_be_meant(api: ApiClient, method: str, path: str, body: Any):
    assert api.send(method, path, body).status_code == 422


def hidden_and_shown(access: Access) -> tuple[Memory, Memory]:
    """Two sure memories of two banks, each in note, document and diary."""
    hidden = remember(access, "The user takes insulin.", bank="Health", confidence=5)
    shown = remember(access, "The user builds bridges.", bank="Work", confidence=5)
    for memory in (hidden, shown):
        dreamt_of(access, memory)
    return hidden, shown


def seen(api: ApiClient) -> str:
    """Everything a key can read of the tiers."""
    days = api.get("/api/v1/daily").json()["items"]
    paths = [f"/daily/{day['date']}" for day in days] + ["/core-document", "/core-document/versions/2/diff"]
    paths += [f"/dreams/{one['id']}" for one in api.get("/api/v1/dreams").json()["items"]]
    return "".join(api.get(f"/api/v1{path}").content.decode() for path in paths)


def test_a_key_limited_to_banks_reads_the_lines_of_these(access: Access):
    """BNK-02: what it may not read is in no note, no document, no diary and no count."""
    hidden_and_shown(access)
    everything = seen(ApiClient(make_key(access)[1]))
    limited = ApiClient(make_key(access, banks=["Work"])[1])
    assert "insulin" in everything
    assert "bridges" in seen(limited)
    assert "insulin" not in seen(limited)
    assert [day["lines"] for day in limited.get("/api/v1/daily").json()["items"]] == [2]


def test_nobody_restores_what_he_may_not_read(access: Access):
    """BNK-02, MOD-25: the document is everybody's; 403 and nothing changed."""
    hidden_and_shown(access)
    limited = ApiClient(make_key(access, banks=["Work"])[1])
    refused = limited.send("POST", "/core-document/versions/1/restore")
    assert (refused.status_code, refused.json()["code"]) == (403, "document_out_of_reach")
    assert limited.get("/api/v1/core-document").json()["newest"] == 2


def test_a_summary_is_for_those_who_may_read_the_conversation(access: Access):
    """BNK-02: it comes from no memory, but from everything that was said."""
    for part in range(2):
        session = converse(access, "s1", *(f"We spoke about the garden shed, part {part}.{each}" for each in range(20)))
    for job in session.vault.jobs.filter(kind="summarize_session"):
        run_job(job.pk)
    day = day_of(session).isoformat()

    def status(**more: Any) -> int:
        return ApiClient(make_key(access, **more)[1]).get(f"/api/v1/daily/{day}").status_code

    assert status() == 200
    assert status(scopes=frozenset({KeyScope.MEMORIES_READ})) == 404
    assert status(banks=["Work"]) == 404

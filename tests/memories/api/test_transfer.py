"""A vault over REST: out as a stream, in after a look."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from banks.access import Access, KeyScope
from banks.models import AuditEntry
from memories.models import Job, Memory
from memories.services.exporting import export_vault
from memories.services.running import run_job
from tests.conftest import ApiClient
from tests.factories import make_key, remember

pytestmark = pytest.mark.django_db


def exported(api: ApiClient) -> str:
    answer = api.send("POST", "/exports", {})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/x-ndjson")
    return b"".join(answer.streaming_content).decode()


def run_imports() -> None:
    for job in Job.objects.filter(kind="import_vault", state="pending"):
        run_job(job.pk)


def test_an_export_may_carry_an_idempotency_key(api: ApiClient):
    """Clients put one on every POST; an answer as large as the vault is not kept for a replay."""
    answer = api.send("POST", "/exports", {}, Idempotency_Key="once")
    assert answer.status_code == 200
    assert b"".join(answer.streaming_content).startswith(b"{")


def test_out_and_in_again(api: ApiClient, access: Access, other_access: Access):
    """A dry run first, then the yes; GET says what became of it."""
    remember(access, "Mara works in Linz.")
    text = exported(api)
    assert AuditEntry.objects.filter(action="export_vault", vault_id=access.vault_id).count() == 1
    other = ApiClient(make_key(other_access)[1])
    begun = other.send("POST", "/imports", {"text": text, "dry_run": True})
    assert begun.status_code == 202
    path = f"/imports/{begun.json()['id']}"
    run_imports()
    assert other.send("GET", path).json()["found"]["memory"] == {"new": 1}
    assert not Memory.objects.filter(vault_id=other_access.vault_id).exists()
    assert other.send("POST", f"{path}/apply").status_code == 202
    run_imports()
    done = other.send("GET", path).json()
    assert (done["state"], done["made"]["memory"], done["job"]["state"]) == ("done", {"new": 1}, "done")
    assert other.send("POST", f"/changesets/{done['changeset_id']}/undo").json()["undone"] == 1
    assert other.send("POST", f"{path}/apply").status_code == 409
    assert [one["id"] for one in other.send("GET", "/imports").json()["items"]] == [done["id"]]


def test_a_large_file_comes_in_pieces(api: ApiClient, access: Access, other_access: Access):
    remember(access, "Mara works in Linz.")
    lines = exported(api).splitlines(keepends=True)
    other = ApiClient(make_key(other_access)[1])
    begun = other.send("POST", "/imports", {"text": "".join(lines[:3]), "dry_run": False, "complete": False}).json()
    assert begun["state"] == "receiving"
    path = f"/imports/{begun['id']}"
    assert other.send("POST", f"{path}/apply").status_code == 409
    assert other.send("POST", f"{path}/lines", {"text": "".join(lines[3:])}).json()["state"] == "checking"
    run_imports()
    assert other.send("GET", path).json()["made"]["memory"] == {"new": 1}


def test_what_is_no_export_is_refused_at_once(api: ApiClient):
    answer = api.send("POST", "/imports", {"text": "hello"})
    assert (answer.status_code, answer.json()["code"]) == (422, "import_refused")


def test_the_scope_decides(api_with: Callable[..., ApiClient], access: Access):
    """No key without `export` gets anything out; believing a file needs memories:approve."""
    every = set(KeyScope)
    assert api_with(*(every - {KeyScope.EXPORT})).send("POST", "/exports", {}).status_code == 403
    importer: Any = api_with(KeyScope.IMPORT)
    assert importer.send("POST", "/imports", {"text": "x", "keep_provenance": True}).status_code == 403


def test_a_key_for_some_banks_gets_only_those(access: Access):
    remember(access, "At work.", bank="Work")
    remember(access, "At home.", bank="Personal")
    narrow = ApiClient(make_key(access, banks=["Work"])[1])
    kinds = [json.loads(line) for line in exported(narrow).splitlines()]
    assert [line["content"] for line in kinds if line["kind"] == "memory"] == ["At work."]
    assert [line["name"] for line in kinds if line["kind"] == "bank"] == ["Work"]
    assert narrow.send("POST", "/imports", {"text": "x"}).status_code == 403


def test_another_programs_file(api: ApiClient, access: Access):
    """Whose it is is found out or said; the report names every field; the yes is the same as for an export."""
    rows = json.dumps([{"id": "m1", "memory": "Mara likes tea", "metadata": {"a": 1}}])
    begun = api.send("POST", "/imports", {"kind": "auto", "text": rows, "bank": "work"})
    assert (begun.status_code, begun.json()["kind"], begun.json()["state"]) == (202, "auto", "checking")
    run_imports()
    checked = api.send("GET", f"/imports/{begun.json()['id']}").json()
    assert (checked["kind"], checked["state"], checked["found"]["memory"]) == ("mem0", "checked", {"new": 1})
    assert {"there": "metadata", "here": "extra", "count": 1, "lost": 0, "examples": []} in checked["mapping"]
    api.send("POST", f"/imports/{checked['id']}/apply")
    run_imports()
    assert Memory.objects.select_related("bank").get().bank.name == "Work"


def test_bytes_come_in_pieces(api: ApiClient, access: Access):
    page = b"- likes tea\n- has two \xf0\x9f\x90\x95\n"
    body = {"kind": "markdown", "name": "notes.md", "complete": False, "dry_run": False}
    begun = api.send("POST", "/imports", {**body, "base64": b64encode(page[:24]).decode()}).json()
    assert begun["state"] == "receiving"
    more = f"/imports/{begun['id']}/lines"
    assert api.send("POST", more, {"base64": b64encode(page[24:]).decode()}).json()["state"] == "checking"
    run_imports()
    assert {row.content for row in Memory.objects.all()} == {"likes tea", "has two 🐕"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"kind": "mem0", "text": "hello"}, "import_refused"),
        ({"kind": "mcp-memory-service", "text": "{}"}, "import_refused"),
        ({"kind": "zep", "text": "{}"}, ""),
        ({"kind": "mem0", "base64": "!"}, "no_base64"),
        ({"kind": "mem0"}, "one_of"),
        ({"kind": "mem0", "text": "[]", "base64": "W10="}, "one_of"),
        ({"kind": "mem0", "text": "[]", "bank": "Moon"}, ""),
    ],
)
def test_what_cannot_be_taken_is_said_at_once(api: ApiClient, body: dict[str, Any], code: str):
    answer = api.send("POST", "/imports", body)
    assert answer.status_code == 422 and code in answer.content.decode()
    assert not Job.objects.filter(kind="import_vault").exists()


def test_a_bank_nobody_has_begins_no_import(api: ApiClient):
    """It would stand in the list for ever, as an import that was never one."""
    assert api.send("POST", "/imports", {"kind": "mem0", "text": "[]", "bank": "Moon"}).status_code == 422
    assert api.send("GET", "/imports").json()["items"] == []


def test_what_was_refused_is_not_called_an_export(api: ApiClient):
    api.send("POST", "/imports", {"text": "hello"})
    api.send("POST", "/imports", {"kind": "mem0", "text": "hello"})
    assert [one["kind"] for one in api.send("GET", "/imports").json()["items"]] == ["mem0", "auto"]


def test_an_import_of_nothing_leaves_no_changeset(api: ApiClient, access: Access):
    lines = b"".join(export_vault(access)).decode()
    done = api.send("POST", "/imports", {"text": lines, "dry_run": False}).json()
    run_imports()
    assert api.send("GET", f"/imports/{done['id']}").json()["state"] == "done"
    assert api.send("GET", "/changesets").json()["items"] == []


def test_an_export_needs_no_body(api: ApiClient):
    """All that can be said of it is left out as a rule."""
    answer = api.generic("POST", "/api/v1/exports")
    assert (answer.status_code, b"".join(answer).splitlines()[0][:16]) == (200, b'{"kind":"header"')

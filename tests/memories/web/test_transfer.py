"""The page Export & import: plain text only after the password, a file in only after a look at it."""

from __future__ import annotations

import json
import time
import zipfile
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from banks.access import Access
from banks.models import AuditEntry
from memories.models import ImportChunk, Job, Memory, VaultImport
from memories.rules.settings import Level
from memories.services.exporting import export_vault
from memories.services.running import run_job
from memories.services.settings import write_setting
from tests.conftest import PASSWORD
from tests.factories import remember

pytestmark = pytest.mark.django_db


def run_imports() -> None:
    for job in Job.objects.filter(kind="import_vault", state="pending"):
        run_job(job.pk)


def file_of(lines: bytes) -> Any:
    found = BytesIO(lines)
    found.name = "vault.jsonl"
    return found


def test_the_password_is_asked_again(browser: Client, access: Access):
    remember(access, "Mara works in Linz.")
    refused = browser.post("/transfer/export/", {"password": "wrong"})
    assert refused.status_code == 422
    assert b"not your password" in refused.content
    assert not AuditEntry.objects.filter(action="export_vault").exists()
    given = browser.post("/transfer/export/", {"password": PASSWORD})
    assert "attachment" in given["Content-Disposition"]
    lines = b"".join(given).splitlines()
    assert [json.loads(line)["kind"] for line in (lines[0], lines[-1])] == ["header", "trailer"]
    assert any(b"Mara works in Linz." in line for line in lines)
    assert AuditEntry.objects.filter(action="export_vault", vault_id=access.vault_id).count() == 1


def test_only_an_owner_sees_the_page(viewer: User):
    client = Client()
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    for answer in (
        client.get("/transfer/"),
        client.post("/transfer/export/", {"password": PASSWORD}),
        client.post("/transfer/import/", {"file": file_of(b"x")}),
    ):
        assert answer.status_code == 403
    assert b"/transfer/" not in client.get("/").content


def test_a_file_is_looked_at_before_it_is_imported(browser: Client, access: Access, other_access: Access):
    for number in range(3):
        remember(other_access, f"Room {number} has {number * 9} chairs.")
    sent = browser.post("/transfer/import/", {"file": file_of(b"".join(export_vault(other_access)))})
    assert sent.status_code == 303
    run_imports()
    page = browser.get(sent["Location"])
    assert b"Waits for your yes" in page.content
    assert not Memory.objects.filter(vault_id=access.vault_id).exists()
    assert browser.post(f"{sent['Location']}apply/", {"keep_provenance": "on"}).status_code == 303
    run_imports()
    page = browser.get(sent["Location"])
    assert b"Imported" in page.content
    assert Memory.objects.filter(vault_id=access.vault_id, trust="inferred").count() == 3
    assert sent["Location"].encode() in browser.get("/transfer/").content


def test_what_is_no_export_is_refused_in_a_sentence(browser: Client):
    """Said at the field, with what else was chosen still chosen."""
    sent = browser.post("/transfer/import/", {"file": file_of(b"hello\nworld\n"), "bank": "Work"})
    page = sent.content.decode()
    assert sent.status_code == 422 and 'aria-invalid="true"' in page and 'value="Work"' in page
    assert "not the header of an exported vault" in page.split('id="file-error"')[1].split("</p>")[0]
    assert not ImportChunk.objects.exists()
    assert b"Choose a file first" in browser.post("/transfer/import/", {}).content


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("mcp-memory-service", b"{}", "no SQLite file"),
        ("hindsight", b"[]", "no zip"),
        ("mem0", b"SQLite format 3\0", "only mcp-memory-service keeps one"),
        ("langmem", b"hello", "no JSON"),
        ("", b"   ", "is empty"),
        ("", b"\x00\x01", "is of no other program"),
    ],
)
def test_what_a_file_cannot_be_is_said_at_its_field(browser: Client, kind: str, body: bytes, said: str):
    page = browser.post("/transfer/import/", {"file": file_of(body), "kind": kind})
    assert page.status_code == 422
    assert said in page.content.decode().split('id="file-error"')[1].split("</p>")[0]
    assert VaultImport.objects.get().state == "failed" and not Job.objects.filter(kind="import_vault").exists()


def test_what_unpacks_to_much_is_left_to_the_job(browser: Client, access: Access):
    """S10: 39 kB that unpack to forty million bytes of numbers cost the page nothing, and the job little."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memories.json", b"[" + b"1," * 20_000_000 + b"1]")
    browser.get("/transfer/")
    begun = time.process_time()
    sent = browser.post("/transfer/import/", {"file": file_of(packed.getvalue())})
    assert sent.status_code == 303 and time.process_time() - begun < 1
    assert "A file of another program" in browser.get(sent["Location"]).content.decode()
    run_imports()
    assert "5,000,000 values" in browser.get(sent["Location"]).content.decode()
    assert VaultImport.objects.get().state == "failed" and not ImportChunk.objects.exists()


def test_a_form_of_somebody_else_leaves_nothing(owner: User, access: Access):
    """CSRF: the file is taken in before the form can be read, so it is dropped when the form was not ours."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    answer = client.post("/transfer/import/", {"file": file_of(b"".join(export_vault(access)))})
    assert answer.status_code == 403
    assert not ImportChunk.objects.exists()
    assert set(VaultImport.objects.values_list("state", flat=True)) <= {"failed"}


def test_a_file_of_another_program_is_found_out_and_told_field_by_field(browser: Client, access: Access):
    """Checked, shown with what becomes of its fields, imported after a yes, and undone from the same page."""
    rows = [{"id": "m1", "memory": "Mara likes tea", "metadata": {"a": 1}}, {"id": "m2"}]
    sent = browser.post("/transfer/import/", {"file": file_of(json.dumps({"results": rows}).encode()), "bank": "work"})
    assert sent.status_code == 303
    run_imports()
    page = browser.get(sent["Location"]).content.decode()
    assert "mem0 or OpenMemory" in page and "Record 2: has no text" in page
    assert '<th scope="row">metadata</th>' in page
    assert "Believe the file" not in page
    browser.post(f"{sent['Location']}apply/", {})
    run_imports()
    memory = Memory.objects.select_related("bank").get(vault_id=access.vault_id)
    assert (memory.external_write_id, memory.bank.name, memory.trust) == ("mem0:m1", "Work", "untrusted")
    assert "undo it" in browser.get(sent["Location"]).content.decode()


def test_a_file_of_another_program_is_held_only_so_far(browser: Client, access: Access):
    write_setting(access, Level.VAULT, "import_document_max_mib", 1)
    sent = browser.post("/transfer/import/", {"file": file_of(b"[" + b" " * 2_000_000)})
    assert b"more than 1 MiB" in sent.content
    kind = {"file": file_of(b"[]"), "kind": "nobody"}
    assert b"Select a valid choice" in browser.post("/transfer/import/", kind).content
    unknown = {"file": file_of(b"[]"), "kind": "mem0", "bank": "Nowhere"}
    assert "General" in browser.post("/transfer/import/", unknown).content.decode().split('id="id_bank_error"')[1]
    ended = VaultImport.objects.values_list("state", "kind")  # for the unknown bank none was begun
    assert list(ended) == [("failed", "auto")] * 2
    assert 'data-label="From">An export' not in browser.get("/transfer/").content.decode()
    assert not ImportChunk.objects.exists()


def test_nothing_to_import_is_not_offered(browser: Client, access: Access):
    """All of it is here, or was not taken: the report says so, and so does the list."""
    rows = [{"id": "m1", "memory": "Mara likes tea"}]
    for wish in ("new", "again"):
        sent = browser.post("/transfer/import/", {"file": file_of(json.dumps(rows).encode()), "kind": "mem0"})
        run_imports()
        page = browser.get(sent["Location"]).content.decode()
        assert ("/apply/" in page, "Nothing of this file" in page) == (wish == "new", wish == "again")
        browser.post(f"{sent['Location']}apply/", {})
        run_imports()
    empty = browser.post("/transfer/import/", {"file": file_of(b"[{}]"), "kind": "mem0"})
    run_imports()
    assert "/apply/" not in browser.get(empty["Location"]).content.decode()
    assert "Nothing to import" in browser.get("/transfer/").content.decode()

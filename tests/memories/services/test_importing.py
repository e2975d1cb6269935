"""What an export says, an import brings back: the same memories, links, chains and conversations."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banks.access import Access, KeyScope
from banks.access.access import MissingScope
from memories.models import Changeset, ImportChunk, Job, Link, Memory, VaultImport
from memories.rules.drafts import MemoryChanges
from memories.rules.exchange import FileRefused, id_in
from memories.rules.imports import ImportOptions
from memories.rules.settings import Level
from memories.rules.vocabulary import Relation
from memories.services.editing import update_memory
from memories.services.exporting import export_vault
from memories.services.importing import import_vault
from memories.services.imports import (
    ImportNotReady,
    LinesInterleaved,
    apply_import,
    begin_import,
    check_import,
    forget_imports,
    stage_lines,
)
from memories.services.jobs import JobLost, claim_job
from memories.services.lifecycle import archive_memory
from memories.services.linking import create_link
from memories.services.running import run_job
from memories.services.settings import write_setting
from memories.services.undoing import undo_changeset
from tests import factories

pytestmark = pytest.mark.django_db


def fill(access: Access) -> None:
    """A chain, an archived memory whose text came back, a link, a draft, a protected row, a conversation."""
    first = factories.remember(access, "Mara works in Linz.", fact_key="work_place", tags=["work"], extra={"a": [1]})
    factories.write(access, "Mara works in Wels.", supersedes=str(first.pk))
    gone = factories.remember(access, "The door code is 4711.", bank="Work", entities=["door"])
    archive_memory(access, gone.pk, True, "changed")
    back = factories.remember(access, "The door code is 4711.", importance=5, external_write_id="door")
    tea = factories.remember(access, "I like tea ☕.\nBlack.", type="preference", user_id="u1", is_protected=True)
    create_link(access, tea.pk, back.pk, Relation.RELATED)
    factories.remember(access, "A draft.", status="draft", source_kind="web")
    factories.converse(access, "s1", "I moved.", {"role": "ai", "content": "Noted."}, user_id="u1")


def bring(access: Access, lines: bytes, **options: Any) -> VaultImport:
    """The import after its jobs."""
    found = begin_import(access, ImportOptions.parse({"dry_run": False, "keep_provenance": True, **options}))
    stage_lines(access, found.pk, [lines])
    check_import(access, found.pk)
    work(access.vault_id)
    found.refresh_from_db()
    return found


def work(vault_id: UUID) -> None:
    """Run the vault's imports."""
    for job in Job.objects.filter(vault_id=vault_id, kind="import_vault", state="pending"):
        run_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.error) == ("done", "")


def said(access: Access, home: UUID | None = None) -> dict[str, dict[str, Any]]:
    """What the vault's export says of everything in it; its ids as they are, or as they would be in ``home``."""
    found = {}
    for text in b"".join(export_vault(access)).splitlines()[1:-1]:
        line = json.loads(text)
        if line["kind"] in {"memory", "session", "message", "link"}:
            for name in {"id", "superseded_by", "source", "target", "session"} & line.keys():
                line[name] = line[name] if home is None else there_of(home, line[name])
            found[line["id"]] = line
    return found


def there_of(home: UUID, value: str | None) -> str | None:
    return value and str(id_in(home, UUID(value)))


def taken(job: Job) -> Job:
    """The job as a worker has it."""
    found = claim_job(job.pk)
    assert found is not None
    return found


def test_another_vault_says_the_same_afterwards(access: Access, other_access: Access):
    """Every field, link, chain, archived state, status and turn."""
    fill(access)
    done = bring(other_access, b"".join(export_vault(access)))
    assert (done.state, done.error, done.refused) == ("done", "", [])
    assert done.made["memory"] == {"new": 6}
    assert said(other_access) == said(access, other_access.vault_id)


def test_a_second_run_changes_nothing(access: Access, other_access: Access):
    fill(access)
    lines = b"".join(export_vault(access))
    bring(other_access, lines)
    before = said(other_access)
    again = bring(other_access, lines)
    assert again.made["memory"] == {"same": 6}
    assert said(other_access) == before
    assert again.changeset.count == 0


def test_a_dry_run_reports_and_changes_nothing(access: Access, other_access: Access):
    """How many lines are new, the same or changed; a yes later carries it out."""
    fill(access)
    lines = b"".join(export_vault(access))
    factories.remember(other_access, "I like tea ☕.\nBlack.", type="preference", user_id="u1")
    before = said(other_access)
    checked = bring(other_access, lines, dry_run=True)
    assert (checked.state, checked.found["memory"]) == ("checked", {"new": 5, "same": 1})
    assert (checked.changeset, said(other_access)) == (None, before)
    apply_import(other_access, checked.pk)
    work(other_access.vault_id)
    checked.refresh_from_db()
    assert (checked.state, checked.made["memory"]) == ("done", {"new": 5, "same": 1})
    # The link of the tea leads to the memory that was here already.
    tea = Memory.objects.get(vault_id=other_access.vault_id, type="preference")
    assert Link.objects.filter(source=tea, relation="related").exists()
    assert not ImportChunk.objects.filter(owner=checked).exists()


def test_without_more_rights_nothing_is_believed(access: Access, other_access: Access):
    """Provenance import, trust untrusted; the dates stay. Keeping provenance needs memories:approve."""
    fill(access)
    bring(other_access, b"".join(export_vault(access)), keep_provenance=False)
    rows = Memory.objects.filter(vault_id=other_access.vault_id)
    assert set(rows.values_list("source_kind", "trust")) == {("import", "untrusted")}
    times = Memory.objects.filter(vault_id=access.vault_id).values_list("created_at", flat=True)
    assert set(rows.values_list("created_at", flat=True)) == set(times)
    _, secret = factories.make_key(other_access, frozenset({KeyScope.IMPORT, KeyScope.MEMORIES_WRITE}))
    with pytest.raises(MissingScope, match="memories:approve"):
        begin_import(factories.access_of(secret), ImportOptions(keep_provenance=True))


def test_what_is_here_and_differs_stays_unless_asked(access: Access):
    """A file of this very vault: memories are recognised by their ids; update brings them back, as one changeset."""
    fill(access)
    lines = b"".join(export_vault(access))
    before = said(access)
    tea = Memory.objects.get(vault_id=access.vault_id, type="preference")
    update_memory(access, tea.pk, MemoryChanges.parse({"content": "I like coffee.", "importance": 1}))
    assert bring(access, lines).made["memory"] == {"same": 5, "changed": 1}
    done = bring(access, lines, update=True)
    assert done.made["memory"] == {"same": 5, "updated": 1}
    after = said(access)
    assert after[str(tea.pk)] == before[str(tea.pk)] | {"version": 3, "updated_at": after[str(tea.pk)]["updated_at"]}
    assert undo_changeset(access, str(done.changeset_id)).undone == 1
    tea.refresh_from_db()
    assert tea.content == "I like coffee."


def test_an_import_is_undone_as_one(access: Access, other_access: Access):
    fill(access)
    done = bring(other_access, b"".join(export_vault(access)))
    assert undo_changeset(other_access, str(done.changeset_id)).undone == 6
    assert not Memory.objects.filter(vault_id=other_access.vault_id, archived_at=None).exists()


def test_dedup_compares_by_meaning_where_asked(access: Access, other_access: Access):
    """What says the same in other words is recognised, and a link to it leads to the one that was here."""
    factories.remember(access, "Mara's favourite colour is dark green.")
    factories.remember(other_access, "Mara's favourite color is dark green.")
    lines = b"".join(export_vault(access))
    assert bring(other_access, lines, dedup=True).made["memory"] == {"same": 1}
    assert bring(other_access, lines).made["memory"] == {"new": 1}


def test_a_killed_worker_loses_and_doubles_nothing(access: Access, other_access: Access, monkeypatch: Any):
    """After every chunk the import is where its rows are: an attempt that ends anywhere is taken up by the next."""
    for number in range(12):
        factories.remember(access, f"Room {number} has {number * 7} chairs.", dedup=False)
    monkeypatch.setattr("memories.services.imports.CHUNK_LINES", 4)
    found = begin_import(other_access, ImportOptions(dry_run=False, keep_provenance=True))
    stage_lines(other_access, found.pk, [b"".join(export_vault(access))])
    job = check_import(other_access, found.pk).job
    at_work = taken(job)
    gone = ImportChunk.objects.get(owner=found, number=4)
    ImportChunk.objects.filter(pk=gone.pk).update(number=99)  # the attempt ends in the middle
    with pytest.raises(JobLost):
        import_vault(other_access, at_work)
    found.refresh_from_db()
    assert found.state == "checking"
    ImportChunk.objects.filter(pk=gone.pk).update(number=4)
    for stop in (3, None):
        Job.objects.filter(pk=job.pk).update(state="pending", lease_until=None)
        at_work = taken(job)
        if stop:
            ImportChunk.objects.filter(owner=found, number=stop).update(number=99)
            with pytest.raises(JobLost):
                import_vault(other_access, at_work)
            ImportChunk.objects.filter(owner=found, number=99).update(number=stop)
        else:
            import_vault(other_access, at_work)
    found.refresh_from_db()
    assert (found.state, found.made["memory"]) == ("done", {"new": 12})
    assert said(other_access) == said(access, other_access.vault_id)


def test_erasing_drops_what_waits(access: Access, other_access: Access):
    """A file that waits must not bring back what is erased."""
    fill(access)
    found = bring(access, b"".join(export_vault(access)), dry_run=True)
    other = bring(other_access, b"".join(export_vault(access)), dry_run=True)
    tea = Memory.objects.get(vault_id=access.vault_id, type="preference")
    assert forget_imports(access, [tea.pk]) == 1
    found.refresh_from_db()
    assert (found.state, ImportChunk.objects.filter(owner=found).count()) == ("failed", 0)
    assert "erased meanwhile" in found.error
    other.refresh_from_db()
    assert other.state == "checked"


def test_what_waits_is_sealed(access: Access, other_access: Access):
    fill(access)
    found = bring(other_access, b"".join(export_vault(access)), dry_run=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT body FROM memories_importchunk WHERE owner_id = %s", [found.pk])
        bodies = b"".join(bytes(row[0]) for row in cursor.fetchall())
    assert len(bodies) > 1_000
    assert b"Linz" not in bodies and b'"kind"' not in bodies


def closed(lines: list[bytes]) -> bytes:
    """The lines with the trailer that belongs to them."""
    body = b"".join(line + b"\n" for line in lines)
    trailer = {"kind": "trailer", "lines": body.count(b"\n"), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(trailer, separators=(",", ":")).encode() + b"\n"


def header_of(access: Access) -> bytes:
    return b"".join(export_vault(access)).split(b"\n")[0]


MEMORY = {
    "kind": "memory",
    "id": "01890000-0000-7000-8000-000000000007",
    "content": "Fine.",
    "created_at": "2026-11-01T10:00:00Z",
    "updated_at": "2026-11-01T10:00:00Z",
    "trust": "stated",
}
HOSTILE = {
    "no JSON": b"{",
    "no object": b"[]",
    "no UTF-8": b"\xff\xfe{}",
    "no kind": b"{}",
    "another kind": b'{"kind":"user"}',
    "kind of another type": b'{"kind":["memory"]}',
    "nothing": b"",
    "too deep": b'{"kind":"memory","extra":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "NaN": b'{"kind":"memory","importance":NaN}',
    "too large a number": b'{"kind":"memory","version":1' + b"0" * 5_000 + b"}",
    "NUL": json.dumps(MEMORY | {"content": "a\0b"}).encode(),
    "a lone surrogate": json.dumps(MEMORY | {"content": "\ud800"}).encode(),
    "no id": json.dumps({**MEMORY, "id": "7"}).encode(),
    "too long a text": json.dumps(MEMORY | {"content": "x" * 100_001}).encode(),
    "unknown field": json.dumps(MEMORY | {"vault_key": "x"}).encode(),
    "unknown bank": json.dumps(MEMORY | {"bank": "Nowhere"}).encode(),
    "the id of another line": json.dumps(MEMORY | {"content": "Other."}).encode(),
    "years ahead": json.dumps(MEMORY | {"created_at": "99999-01-01"}).encode(),
    "a link to nothing": (
        b'{"kind":"link","id":"01890000-0000-7000-8000-000000000001","source":"01890000-0000-7000-8000-000000000001",'
        b'"target":"01890000-0000-7000-8000-000000000002","relation":"related","created_at":"2026-11-01T10:00:00Z"}'
    ),
}


def test_hostile_lines_are_refused_one_by_one(access: Access):
    """S10: each is named by its number and none is quoted; the good line before them comes in."""
    done = bring(access, closed([header_of(access), json.dumps(MEMORY).encode(), *HOSTILE.values()]))
    assert (done.state, done.error) == ("done", "")
    numbers = {line["line"] for line in done.refused or []}
    assert [name for number, name in enumerate(HOSTILE, start=3) if number not in numbers] == []
    assert Memory.objects.filter(vault_id=access.vault_id).count() == 1
    assert "Fine." not in json.dumps(done.refused)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (lambda whole: gzip.compress(whole), "compressed"),
        (lambda whole: b"", "empty"),
        (lambda whole: whole[: len(whole) // 2], "ends too early"),
        (lambda whole: whole.replace(b"Linz", b"Graz"), "not as it was exported"),
        (lambda whole: whole + b"{}\n", "comes after the end"),
        (lambda whole: b"{}\n" + whole, "not the header"),
        (lambda whole: whole.replace(b'"version":1', b'"version":2', 1), "newer release"),
        (lambda whole: whole[:200] + b"x" * 2_000_000 + whole[200:], "more than 1048576 bytes"),
    ],
    ids=["compressed", "empty", "cut", "edited", "longer", "another header", "newer", "endless line"],
)
def test_what_is_no_whole_export_changes_nothing(access: Access, other_access: Access, file: Any, said: str):
    fill(access)
    with suppress(FileRefused):
        bring(other_access, file(b"".join(export_vault(access))))
    ended = VaultImport.objects.get(vault_id=other_access.vault_id)
    assert ended.state == "failed" or said == "empty"
    assert said == "empty" or said in ended.error
    assert not Memory.objects.filter(vault_id=other_access.vault_id).exists()
    assert not ImportChunk.objects.filter(owner=ended).exists()


def test_a_file_may_not_be_larger_than_the_settings_say(access: Access, other_access: Access):
    fill(access)
    write_setting(other_access, Level.VAULT, "import_max_lines", 5)
    with pytest.raises(FileRefused, match="5 lines"):
        bring(other_access, b"".join(export_vault(access)))


def test_a_file_cannot_close_a_circle(access: Access):
    """SUP-07: chains of a file that lead back to themselves are not joined; reading them ends."""
    one, two = ("01890000-0000-7000-8000-00000000000" + end for end in "12")
    gone = {"archived_at": "2026-11-02T10:00:00Z", "archived_reason": "superseded"}
    rows: list[dict[str, Any]] = [MEMORY | gone | {"id": one, "content": "A", "superseded_by": two}]
    rows += [MEMORY | gone | {"id": two, "content": "B", "superseded_by": one}]
    link: dict[str, Any] = {
        "kind": "link",
        "relation": "supersedes",
        "is_chain": True,
        "created_at": "2026-11-02T10:00:00Z",
    }
    rows += [link | {"id": one, "source": one, "target": two}, link | {"id": two, "source": two, "target": one}]
    done = bring(access, closed([header_of(access), *(json.dumps(row).encode() for row in rows)]))
    assert done.made["memory"] == {"new": 2}
    successors = Memory.objects.filter(vault_id=access.vault_id).values_list("superseded_by", flat=True)
    assert sorted(each is None for each in successors) == [False, True]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutations=st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=8))
def test_no_change_of_a_file_gets_further_than_a_refusal(
    access: Access, other_access: Access, mutations: list[tuple[int, int]]
):
    """S10: whatever bytes are changed, with a trailer that fits, an import ends and says how; nothing crashes."""
    if not Memory.objects.filter(vault_id=access.vault_id).exists():
        fill(access)
    head, *lines = b"".join(export_vault(access)).splitlines()[:-1]
    body = bytearray(b"\n".join(lines))
    for place, value in mutations:
        body[place % len(body)] = value
    done = bring(other_access, closed([head, *bytes(body).split(b"\n")]))
    assert done.state == "done"
    kept = sum(sum(fates.values()) for fates in done.made.values())
    assert kept == done.lines - 2


def test_an_import_is_carried_out_once(access: Access, other_access: Access):
    """Whoever asks a second time is told that it is under way; there is one changeset to take it back."""
    fill(access)
    checked = bring(other_access, b"".join(export_vault(access)), dry_run=True)
    apply_import(other_access, checked.pk)
    with pytest.raises(ImportNotReady):
        apply_import(other_access, checked.pk)
    assert Changeset.objects.filter(action="import_vault", vault_id=other_access.vault_id).count() == 1


def test_lines_of_two_requests_are_not_mixed(other_access: Access, access: Access):
    """The second to come behind the same line is refused: nothing would say where its lines belong."""
    fill(access)
    file = b"".join(export_vault(access))
    found = begin_import(other_access, ImportOptions())

    def pieces() -> Iterator[bytes]:
        stage_lines(other_access, found.pk, [file])
        yield file

    with pytest.raises(LinesInterleaved):
        stage_lines(other_access, found.pk, pieces())


def test_erasing_reads_the_staged_lines_however_they_are_written(access: Access, other_access: Access):
    """A space after a colon hides nothing from an erasure."""
    memory = factories.remember(access, "Mara works in Linz.")
    rows = [json.loads(line) for line in b"".join(export_vault(access)).splitlines()]
    spaced = closed([json.dumps(row).encode() for row in rows[:-1]])
    checked = bring(access, spaced, dry_run=True)
    assert forget_imports(access, [memory.pk]) == 1
    checked.refresh_from_db()
    assert checked.state == "failed"

"""Files of other programs, as they come: imported once, undone as one, and refused in a sentence when hostile."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from banks.access import Access
from banks.services.banks import UnknownBank
from memories.models import ImportChunk, Link, Memory, MigrationRecord, VaultImport
from memories.rules.exchange import FileRefused
from memories.rules.importers.kinds import ImportKind
from memories.rules.imports import ImportOptions
from memories.rules.settings import Level
from memories.services.imports import begin_import, check_import, unfinished_import
from memories.services.settings import write_setting
from memories.services.sources import SourceFile, source_digest, stage_source
from memories.services.undoing import undo_changeset
from tests.memories.services.test_importing import work

pytestmark = pytest.mark.django_db

MEM0 = [
    {"id": "m1", "memory": "Mara likes tea", "user_id": "mara", "created_at": "2026-01-05T08:00:00Z"},
    {"id": "m2", "memory": "Mara has two dogs", "user_id": "mara", "metadata": {"room": "kitchen"}},
    {"id": "m3", "user_id": "mara"},
]
STORE = [
    {"namespace": ["memories", "mara"], "key": "k", "value": {"text": "Mara likes tea"}, "created_at": "2026-01-01"}
]
FACTS = [
    {"text": "Mara moved to Linz.", "fact_type": "world", "mentioned_at": "2026-03-02T00:00:00Z"},
    {"text": "The tram was late.", "fact_type": "experience", "causal_relations": [{"target_fact_index": 0}]},
]


def zipped(members: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body if isinstance(body, bytes | str) else json.dumps(body))
    return file.getvalue()


def transfer(**members: Any) -> bytes:
    document = {"id": "chat", "facts": FACTS}
    return zipped({"manifest.json": {"schema_version": 1}, "documents/000000.json": document, **members})


def sqlite_file(path: Path, statements: str = "") -> Path:
    """What mcp-memory-service keeps: one memory that took another's place, one deleted, one edge."""
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL,
                tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT,
                updated_at_iso TEXT, deleted_at REAL, superseded_by TEXT);
            CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, relationship_type TEXT);
            INSERT INTO memories (content_hash, content, tags, created_at, superseded_by) VALUES
                ('a', 'Uses bash', 'shell', 1767600000, 'b'), ('b', 'Uses fish', 'shell', 1767700000, NULL);
            INSERT INTO memories (content_hash, content, deleted_at) VALUES ('c', 'Gone', 1.0);
            INSERT INTO memory_graph VALUES ('b', 'a', 'contradicts'), ('b', 'zzz', 'related');
            """
            + statements
        )
    connection.close()
    return path


def bring(access: Access, source: SourceFile, **options: Any) -> VaultImport:
    found = begin_import(access, ImportOptions.parse({"dry_run": False, **options}))
    stage_source(access, found.pk, source)
    check_import(access, found.pk)
    work(access.vault_id)
    found.refresh_from_db()
    return found


def sent(name: str, body: Any, **others: Any) -> SourceFile:
    return SourceFile(name, body=body if isinstance(body, bytes) else json.dumps(body).encode(), **others)


FILES = {
    ImportKind.MEM0: (sent("m.json", {"results": MEM0}), 2),
    ImportKind.LANGMEM: (sent("s.json", STORE), 1),
    ImportKind.HINDSIGHT: (sent("t.zip", transfer()), 2),
    ImportKind.LETTA: (sent("agent.af", {"blocks": [{"id": "b", "label": "human", "value": "Mara bakes."}]}), 1),
    ImportKind.MARKDOWN: (
        sent("n.zip", zipped({"MEMORY.md": "- a\n- b\n", "memory/2026-11-20.md": "- c", "x.png": "."})),
        3,
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_each_is_recognised_and_comes_in_once(access: Access, kind: ImportKind):
    """Untrusted, with the id it had under the source's name; again changes nothing; one undo takes it back."""
    source, count = FILES[kind]
    done = bring(access, source)
    rows = Memory.objects.filter(vault_id=access.vault_id)
    assert (done.state, done.kind, rows.count()) == ("done", kind.value, count)
    assert set(rows.values_list("source_kind", "trust")) == {("import", "untrusted")}
    assert all(name.startswith(f"{kind.value}:") for name in rows.values_list("external_write_id", flat=True))
    assert done.mapping and all(row["count"] for row in done.mapping)
    again = bring(access, source, dedup=True)
    assert again.made["memory"] == {"same": count}
    assert rows.count() == count
    ledger = MigrationRecord.objects.filter(vault_id=access.vault_id, app="import_vault", name=kind.value)
    assert set(ledger.values_list("state", flat=True)) == {"done"} and ledger.count() == 2
    assert undo_changeset(access, str(done.changeset_id)).undone == count
    assert not rows.filter(archived_at=None).exists()


def test_times_labels_and_what_is_left_are_kept_apart(access: Access):
    done = bring(access, FILES[ImportKind.MEM0][0])
    tea = Memory.objects.get(vault_id=access.vault_id, external_write_id="mem0:m1")
    assert (tea.user_id, tea.created_at.isoformat()) == ("mara", "2026-01-05T08:00:00+00:00")
    assert done.made["other"] == {"refused": 1}
    assert [line["line"] - 1 for line in done.refused or []] == [3]
    assert {"there": "metadata", "here": "extra", "count": 1, "lost": 0, "examples": []} in done.mapping


def test_a_dry_run_changes_nothing(access: Access):
    done = bring(access, FILES[ImportKind.HINDSIGHT][0], dry_run=True)
    assert (done.state, done.found["memory"]) == ("checked", {"new": 2})
    assert not Memory.objects.filter(vault_id=access.vault_id).exists()


def test_facts_are_tied_as_they_were(access: Access):
    observations = [
        {"text": "Mara lives in Linz.", "proof_count": 1, "sources": [{"document_id": "chat", "fact_index": 0}]}
    ]
    bring(access, sent("t.zip", transfer(**{"observations.json": observations, "webhooks.json": []})))
    relations = Link.objects.filter(vault_id=access.vault_id).values_list("relation", flat=True)
    assert sorted(relations) == ["derived_from", "related"]


@pytest.mark.parametrize("by_path", [True, False], ids=["path", "bytes"])
def test_a_sqlite_file(access: Access, tmp_path: Path, by_path: bool):
    """From a disk, also while its journal lies beside it, and from a browser; chains, edges and deletions hold."""
    path = sqlite_file(tmp_path / "sqlite_vec.db")
    source = SourceFile(path.name, path=path) if by_path else sent(path.name, path.read_bytes())
    done = bring(access, source)
    old, new = (Memory.objects.get(external_write_id=f"mcp-memory-service:{key}") for key in "ab")
    assert (old.superseded_by_id, old.archived_reason, new.archived_at) == (new.pk, "superseded", None)
    assert done.made["other"] == {"left_out": 1}
    assert done.made["link"] == {"new": 2}


def test_a_folder(access: Access, tmp_path: Path):
    """Hidden files are not looked at, links not followed, other files told."""
    (tmp_path / "memory").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("- hidden")
    (tmp_path / "MEMORY.md").write_text("# Mara\n- likes tea\n")
    (tmp_path / "memory" / "2026-11-20.md").write_text("- met Tom\n")
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe")
    (tmp_path / "secret.md").symlink_to("/etc/hostname")
    done = bring(access, SourceFile("notes", path=tmp_path))
    assert sorted(row.content for row in Memory.objects.filter(vault_id=access.vault_id)) == ["likes tea", "met Tom"]
    assert done.made["other"] == {"refused": 1, "left_out": 1}


def test_lines_and_packed_lines_of_json(access: Access):
    lines = b"\n".join(json.dumps(row).encode() for row in MEM0[:2]) + b"\n{broken\n"
    assert bring(access, sent("m.jsonl", lines, kind=ImportKind.MEM0)).made["memory"] == {"new": 2}
    packed = zipped({"export/memories.jsonl.gz": gzip.compress(lines)})
    assert bring(access, sent("m.zip", packed)).made["memory"] == {"same": 2}


def test_a_bank_is_chosen_or_refused_by_name(access: Access):
    bring(access, sent("m.json", MEM0, bank="work", namespace=("a", "b")))
    row = Memory.objects.filter(vault_id=access.vault_id).select_related("bank").first()
    assert row is not None and (row.bank.name, row.namespace) == ("Work", ["a", "b"])
    with pytest.raises(UnknownBank, match="General"):
        bring(access, sent("m.json", MEM0, bank="Nowhere"))


def test_the_same_file_goes_on_where_it_stopped(access: Access):
    source, options = FILES[ImportKind.MEM0][0], ImportOptions(dry_run=False)
    found = begin_import(access, options)
    stage_source(access, found.pk, source)
    assert unfinished_import(access, source_digest(access, source), options) is None
    check_import(access, found.pk)
    assert unfinished_import(access, source_digest(access, source), options) == found
    assert unfinished_import(access, source_digest(access, source), ImportOptions()) is None
    work(access.vault_id)
    assert unfinished_import(access, source_digest(access, source), options) is None


BOMB = zipped({"memories.json": b" " * (3 * 2**20)})
HOSTILE = {
    "a zip bomb": (sent("b.zip", BOMB), "more than 2 MiB"),
    "a packed bomb": (
        sent("b.zip", zipped({"memories.jsonl.gz": gzip.compress(b" " * (3 * 2**20))})),
        "more than 1 MiB",
    ),
    "a path outside": (sent("b.zip", zipped({"../../memories.json": b"[]"})), "outside of itself"),
    "an absolute path": (sent("b.zip", zipped({"/memories.json": b"[]"})), "outside of itself"),
    "half a zip": (sent("b.zip", zipped({"memories.json": b"[]"})[:30]), "no zip"),
    "deep JSON": (sent("d.json", b"[" * 5_000 + b"]" * 5_000, kind=ImportKind.MEM0), "nested deeper"),
    "NaN": (sent("d.json", b'{"results":[{"id":1,"memory":"x","score":NaN}]}', kind=ImportKind.MEM0), "NaN"),
    "no JSON": (sent("d.json", b"hello", kind=ImportKind.MEM0), "not JSON"),
    "no SQLite": (sent("x.db", b"hello", kind=ImportKind.MCP_MEMORY_SERVICE), "no SQLite"),
    "a damaged SQLite": (sent("x.db", b"SQLite format 3\0" + b"\xff" * 2_000), "SQLite file"),
    "another archive": (sent("t.zip", zipped({"manifest.json": {}}), kind=ImportKind.HINDSIGHT), "schema version"),
    "an unknown file": (sent("x.bin", b"\x00\x01\x02"), "say which one"),
    "an empty file": (sent("x.json", b""), "say which one"),
    "too large": (sent("x.json", b" " * (3 * 2**20)), "more than 2 MiB"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_a_sentence(access: Access, name: str):
    """S10: nothing is staged, nothing is written, and the sentence quotes nothing of the file."""
    source, said = HOSTILE[name]
    write_setting(access, Level.VAULT, "import_max_mib", 2)
    write_setting(access, Level.VAULT, "import_document_max_mib", 1)
    with pytest.raises(FileRefused, match=said):
        bring(access, source)
    ended = VaultImport.objects.get(vault_id=access.vault_id)
    assert (ended.state, said in ended.error) == ("failed", True)
    assert not ImportChunk.objects.exists() and not Memory.objects.exists()


def test_hostile_texts_are_refused_one_by_one(access: Access):
    rows = [
        {"id": "1", "memory": "a\0b"},
        {"id": "2", "memory": "\ud800"},
        {"id": "3", "memory": "x" * 100_001},
        {"id": "4", "memory": "fine", "metadata": {"a": "\0"}},
        {"id": "5", "memory": "fine too", "created_at": "99999-01-01"},
    ]
    done = bring(access, sent("m.json", rows))
    assert (done.made["memory"], done.made["other"]) == ({"new": 2}, {"refused": 3})
    assert [line["line"] - 1 for line in done.refused or []] == [1, 2, 3]


def test_a_view_in_place_of_the_table_runs_nothing(access: Access, tmp_path: Path):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.executescript("CREATE VIEW memories AS SELECT 'a' AS content_hash, 'b' AS content")
    connection.close()
    with pytest.raises(FileRefused, match="no memories"):
        bring(access, SourceFile("x.db", path=path))


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": os.mkfifo,
    "a link to itself": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_never_ends_in_a_folder_is_left_out(access: Access, tmp_path: Path, name: str):
    (tmp_path / "MEMORY.md").write_text("- likes tea\n")
    SPECIAL[name](tmp_path / "z.md")
    done = bring(access, SourceFile("notes", path=tmp_path))
    assert (done.made["memory"], done.made["other"]) == ({"new": 1}, {"left_out": 1})


@pytest.mark.parametrize("kind", [None, *ImportKind])
@pytest.mark.parametrize("name", SPECIAL)
def test_what_never_ends_is_refused_by_itself(access: Access, tmp_path: Path, name: str, kind: ImportKind | None):
    """Whatever it is said to be."""
    SPECIAL[name](tmp_path / "notes")
    source = SourceFile("notes", path=tmp_path / "notes", kind=kind)
    with pytest.raises(FileRefused, match=r"no ordinary file|cannot be read"):
        source_digest(access, source)
    with pytest.raises(FileRefused, match=r"no ordinary file|cannot be read"):
        bring(access, source)


def test_a_huge_sparse_page_is_refused_unread(access: Access, tmp_path: Path):
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(1 << 40)
    for path in (tmp_path, tmp_path / "a.md"):
        with pytest.raises(FileRefused, match="MiB"):
            source_digest(access, SourceFile("notes", path=path))


def patched(body: bytes, at: int, value: bytes) -> bytes:
    return body[:at] + value + body[at + len(value) :]


def encrypted() -> bytes:
    """The flag in both headers: the archive says that it needs a password."""
    body = zipped({"memories.json": b"[]"})
    return patched(patched(body, 6, b"\x01"), body.index(b"PK\x01\x02") + 8, b"\x01")


def wrong_checksum() -> bytes:
    body = zipped({"memories.json": b"[]"})
    return patched(body, body.index(b"PK\x01\x02") + 16, b"\0\0\0\1")


def zip64() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("memories.json", "w", force_zip64=True) as member:
        member.write(json.dumps(MEM0[:2]).encode())
    return file.getvalue()


def quine() -> bytes:
    """A zip in a zip in a zip: only what lies in the outermost one is looked at."""
    body = zipped({"memories.json": b"[]"})
    for _ in range(20):
        body = zipped({"again.zip": body})
    return body


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (encrypted(), "is encrypted"),
        (wrong_checksum(), "is damaged"),
        (quine(), "say which one"),
        (zipped({"memories.json": b"[" + b"1," * 9_000_000 + b"1]"}), "5,000,000 values"),
    ],
    ids=["encrypted", "checksum", "quine", "values"],
)
def test_hostile_zips(access: Access, body: bytes, said: str):
    with pytest.raises(FileRefused, match=said):
        bring(access, sent("b.zip", body))
    assert not ImportChunk.objects.exists()


def test_zips_of_the_large_kind_are_read(access: Access):
    assert bring(access, sent("b.zip", zip64())).made["memory"] == {"new": 2}


def test_a_name_twice_in_a_zip(access: Access):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("memories.json", "[]")
        archive.writestr("memories.json", "[]")
    with pytest.raises(FileRefused, match="same name twice"):
        bring(access, sent("b.zip", file.getvalue()))


HOSTILE_SCHEMAS = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON memories BEGIN DELETE FROM memories; END;",
    "a view in the table's columns": "CREATE VIEW v AS SELECT load_extension('x') FROM memories;",
    "a table made of code": "CREATE VIRTUAL TABLE f USING fts5(x);",
    "an index on code": "CREATE INDEX i ON memories (abs(id));",
}


@pytest.mark.parametrize("name", HOSTILE_SCHEMAS)
def test_nothing_in_a_sqlite_file_runs(access: Access, tmp_path: Path, name: str):
    """What else is in the schema is not looked at, and the memories come in as they are."""
    path = sqlite_file(tmp_path / "x.db", HOSTILE_SCHEMAS[name])
    before = path.read_bytes()
    assert bring(access, SourceFile(path.name, path=path)).made["memory"] == {"new": 2}
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "columns",
    [
        "content_hash, content AS (randomblob(1000000000)) STORED",
        "content_hash, content AS (load_extension('x'))",
        "content_hash, content CHECK (1)",
    ],
)
def test_computed_columns_and_huge_cells(access: Access, tmp_path: Path, columns: str):
    """A cell longer than any memory, or one that is computed, ends in a sentence."""
    with sqlite3.connect(tmp_path / "x.db") as connection, suppress(sqlite3.Error):
        connection.execute(f"CREATE TABLE memories ({columns})")
        if "CHECK" in columns:
            connection.execute("INSERT INTO memories VALUES ('a', zeroblob(20000000))")
    connection.close()
    with pytest.raises(FileRefused, match=r"SQLite file|say which one"):
        bring(access, SourceFile("x.db", path=tmp_path / "x.db"))

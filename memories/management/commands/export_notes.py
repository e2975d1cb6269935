"""``manage.py export_notes DIR --vault V``: daily notes, core document and diary as a folder of Markdown (CON-19)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from banks.services.audit import Audited, record_audit
from memories.management.operator import open_vault
from memories.rules.tiermarkdown import NotedLine, core_markdown, daily_markdown, diary_markdown
from memories.rules.vocabulary import NoteKind
from memories.search.coredocument import read_core_document
from memories.search.dreams import get_dream, list_dreams
from memories.search.notes import DEFAULT, list_daily_notes, list_namespaces, read_daily_note
from memoryhub.lib.sealing import gate

if TYPE_CHECKING:
    import datetime as dt
    from argparse import ArgumentParser
    from collections.abc import Iterator

    from banks.access import Access

EVERY = 100_000
_UNSAFE = re.compile(r"[^\w.-]+")


class Command(BaseCommand):
    """Writes plain text: that it was done is in the audit, and who may read the folder is up to you."""

    help = "Write a vault's daily notes, core document and dream diary as Markdown files."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to, and of which vault."""
        parser.add_argument("folder", type=Path, help="an empty or new folder")
        parser.add_argument("--vault", required=True, help="name or id of the vault")

    def handle(self, *args: Any, **options: Any) -> None:
        """Says how many files were written. Refuses a folder that holds anything."""
        folder: Path = options["folder"]
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder; name another one.")
        with gate.session():
            access = open_vault(options["vault"], "export_notes")
            record_audit(access, Audited("export_notes", "vault", access.vault_id))
            count = 0
            for namespace in list_namespaces(access):
                home = folder if tuple(namespace) == DEFAULT else folder / "namespaces" / _name(namespace)
                for path, text in _files(access, namespace):
                    (home / path).parent.mkdir(parents=True, exist_ok=True)
                    (home / path).write_text(text, encoding="utf-8")
                    count += 1
        self.stdout.write(f"{count} files in {folder}, in plain text: keep them as safe as the vault.")


def _name(namespace: list[str]) -> str:
    """A folder's name that cannot lead out of the folder it is in."""
    return "__".join(_UNSAFE.sub("_", part).strip(".") or "_" for part in namespace)


def _files(access: Access, namespace: list[str]) -> Iterator[tuple[str, str]]:
    for day in list_daily_notes(access, namespace, limit=EVERY):
        shown = read_daily_note(access, day.date, namespace)
        lines = [
            NotedLine(line.at, shown.sessions.get(line.session_id, ""), NoteKind(line.kind), line.text)
            for line in shown.lines
        ]
        yield f"memory/{day.date}.md", daily_markdown(day.date, lines, shown.note.left_out)
    document = read_core_document(access, namespace)
    yield "MEMORY.md", core_markdown(document.lines, document.names)
    diaries: dict[dt.date, list[str]] = {}
    for dream in reversed(list_dreams(access, namespace, limit=EVERY)):
        entry = get_dream(access, dream.id)
        if entry.changes:
            diaries.setdefault(entry.head.date, []).append(diary_markdown(entry.head, entry.changes))
    for date, texts in diaries.items():
        yield f"memory/dreams/{date}.md", "\n".join(texts)

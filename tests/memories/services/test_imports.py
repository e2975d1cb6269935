"""Imports that wait: for their yes, and for what comes behind their last line."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memories.models import ImportChunk, Memory, VaultImport
from memories.rules.imports import FileWish, ImportOptions
from memories.rules.settings import Level
from memories.services.erasing import erase_memory
from memories.services.exporting import export_vault
from memories.services.imports import begin_import, check_import, drop_abandoned_imports, forget_imports, stage_lines
from memories.services.received import stage_file
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from tests import factories
from tests.memories.services.test_importing import bring, fill, work
from tests.memories.services.test_sources import bring as bring_source
from tests.memories.services.test_sources import sent

pytestmark = pytest.mark.django_db


def test_what_waits_too_long_for_a_yes_is_dropped(access: Access, other_access: Access):
    """Sealed lines do not lie about for ever; what is under way is left alone."""
    fill(access)
    lines = b"".join(export_vault(access))
    checked, fresh = bring(other_access, lines, dry_run=True), bring(other_access, lines, dry_run=True)
    write_setting(other_access, Level.VAULT, "import_staged_days", 3)
    VaultImport.objects.filter(pk=checked.pk).update(created_at=now() - dt.timedelta(days=4))
    assert drop_abandoned_imports() == 1
    checked.refresh_from_db()
    fresh.refresh_from_db()
    assert (checked.state, fresh.state) == ("failed", "checked")
    assert "waited 3 days" in checked.error
    assert not ImportChunk.objects.filter(owner=checked).exists()


def test_empty_lines_behind_the_end_say_nothing(access: Access, other_access: Access):
    fill(access)
    done = bring(other_access, b"".join(export_vault(access)) + b"\n\n")
    assert (done.state, done.error, done.made["memory"]) == ("done", "", {"new": 6})


def test_an_erasure_leaves_other_imports_alone(access: Access, other_access: Access):
    """Neither a file nobody has read yet, nor one that says something else, is ended by it."""
    tea = factories.remember(access, "Mara likes tea.")
    unread = begin_import(access, ImportOptions())
    stage_file(access, unread.pk, FileWish(name="m.json"), b'[{"id": "m1", "memory": "Mara likes cake"}]')
    fill(other_access)
    waiting = bring(access, b"".join(export_vault(other_access)), dry_run=True)
    receipt = erase_memory(access, tea.pk)
    assert (receipt.removed["imports"], Memory.objects.filter(pk=tea.pk).count()) == (0, 0)
    assert VaultImport.objects.get(pk=unread.pk).state == "receiving"
    assert VaultImport.objects.get(pk=waiting.pk).state == "checked"


def test_an_erasure_finds_the_text_under_another_id(access: Access):
    """Another program's file says what a memory here says: its lines go with the memory."""
    tea = factories.remember(access, "Mara likes tea")
    waiting = bring_source(access, sent("m.json", [{"id": "m1", "memory": "Mara likes tea"}]), dry_run=True)
    assert erase_memory(access, tea.pk).removed["imports"] == 1
    waiting.refresh_from_db()
    assert (waiting.state, ImportChunk.objects.filter(owner=waiting).count()) == ("failed", 0)


def test_an_erasure_finds_what_an_import_brought(access: Access, other_access: Access):
    """The id a line has here is another than in the file, and its text may have changed since."""
    fill(other_access)
    lines = b"".join(export_vault(other_access))
    bring(access, lines)
    waiting = bring(access, lines, dry_run=True)
    tea = Memory.objects.get(vault_id=access.vault_id, type="preference")
    Memory.objects.filter(pk=tea.pk).update(content_hash=None)
    assert erase_memory(access, tea.pk).removed["imports"] == 1
    waiting.refresh_from_db()
    assert waiting.state == "failed"


def test_an_erasure_opens_no_staged_file(access: Access, other_access: Access):
    """What waits may be large, and the memory's row is locked meanwhile."""
    fill(other_access)
    bring(access, b"".join(export_vault(other_access)), dry_run=True)
    tea = factories.remember(access, "Something else.")
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert forget_imports(access, [tea.pk]) == 0
    assert not [one["sql"] for one in seen if '"body"' in one["sql"]]


def test_the_job_of_an_import_that_was_ended_ends(access: Access, other_access: Access):
    """Also when the erasure comes first and the job finds nothing left to do."""
    memory = factories.remember(access, "Mara works in Linz.")
    found = begin_import(access, ImportOptions(dry_run=False))
    stage_lines(access, found.pk, [b"".join(export_vault(access))])
    check_import(access, found.pk)
    assert forget_imports(access, [memory.pk]) == 1
    work(access.vault_id)
    found.refresh_from_db()
    assert found.state == "failed"


def test_an_import_ended_under_its_job_stays_ended(
    access: Access, other_access: Access, monkeypatch: pytest.MonkeyPatch
):
    """The job does not call it checked; it ends with it."""
    memory = factories.remember(access, "Mara works in Linz.")
    monkeypatch.setattr("memories.services.importing._judge", lambda *_: forget_imports(access, [memory.pk]))
    found = bring(access, b"".join(export_vault(access)), dry_run=True)
    assert (found.state, found.job.state) == ("failed", "done")

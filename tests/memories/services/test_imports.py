"""Imports that wait: for their yes, and for what comes behind their last line."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import Access
from memories.models import ImportChunk, VaultImport
from memories.rules.settings import Level
from memories.services.exporting import export_vault
from memories.services.imports import drop_abandoned_imports
from memories.services.settings import write_setting
from memoryhub.lib.clock import now
from tests.memories.services.test_importing import bring, fill

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

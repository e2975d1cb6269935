"""A file that comes in again after its import was undone."""

from __future__ import annotations

import json

import pytest

from banks.access import Access
from memories.models import Memory
from memories.services.lifecycle import archive_memory
from memories.services.sources import SourceFile
from memories.services.undoing import undo_changeset
from tests import factories
from tests.memories.services.test_sources import MEM0, bring

pytestmark = pytest.mark.django_db


def test_a_file_comes_in_again_after_its_undo(access: Access):
    """Wrong bank, undo, the right bank: all of it lives there, and can be undone once more."""
    file = json.dumps(MEM0[:2]).encode()
    first = bring(access, SourceFile("m.json", body=file, bank="Personal"))
    undo_changeset(access, first.changeset.pk)
    checked = bring(access, SourceFile("m.json", body=file, bank="Work"), dry_run=True)
    assert checked.found["memory"] == {"new": 2}
    again = bring(access, SourceFile("m.json", body=file, bank="Work"))
    rows = Memory.objects.filter(vault_id=access.vault_id)
    assert again.made["memory"] == {"new": 2}
    assert {(row.bank.name, row.archived) for row in rows} == {("Work", False)}
    assert undo_changeset(access, again.changeset.pk).undone == 2
    assert {row.archived for row in rows.all()} == {True}


def test_what_somebody_archived_stays_archived(access: Access):
    """Only the undo of an import is taken back by importing again."""
    file = json.dumps(MEM0[:1]).encode()
    bring(access, SourceFile("m.json", body=file))
    memory = Memory.objects.get(vault_id=access.vault_id)
    archive_memory(access, memory.pk, reason="undone")
    assert bring(access, SourceFile("m.json", body=file)).made["memory"] == {"same": 1}
    memory.refresh_from_db()
    assert memory.archived


def test_what_lives_here_under_another_id_meanwhile_is_not_doubled(access: Access):
    """Its text was written again by hand: that one stays the only one."""
    file = json.dumps([{"id": "m1", "memory": "Mara likes tea"}]).encode()
    first = bring(access, SourceFile("m.json", body=file))
    undo_changeset(access, first.changeset.pk)
    gone = Memory.objects.get(vault_id=access.vault_id)
    factories.remember(access, "Mara likes tea", type=gone.type, namespace=gone.namespace)
    assert bring(access, SourceFile("m.json", body=file)).made["memory"] == {"same": 1}
    gone.refresh_from_db()
    assert gone.archived

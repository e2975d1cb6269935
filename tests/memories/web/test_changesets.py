"""Changesets in the browser: the list, the page of one, and taking it back whole or in part."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client

from banks.access import Access
from memories.models import Changeset, Job, Memory, Session
from memories.rules.bulk import BulkChange
from memories.rules.drafts import MemoryChanges
from memories.rules.imports import ImportOptions
from memories.services.bulk import bulk_change
from memories.services.editing import update_memory
from memories.services.exporting import export_vault
from memories.services.imports import begin_import, check_import, stage_lines
from memories.services.running import run_job
from tests.factories import archive_together, converse, remember

pytestmark = pytest.mark.django_db


def test_each_is_a_line_with_who_and_why(browser: Client, access: Access):
    archive_together(access, "One.", "Two.")
    html = browser.get("/activity/changesets/").content.decode()
    assert "<b>Archived</b>" in html
    assert "by the hub · tidying up" in html
    assert "Archived: tidying up" in browser.get(f"/changesets/{Changeset.objects.get().pk}/").content.decode()
    assert 'aria-current="page">Changesets' in html


def test_its_page_lists_what_was_changed(browser: Client, access: Access):
    memory = remember(access, "Likes tea.", tags=["drink"])
    change = BulkChange.parse({"action": "set_importance", "ids": [str(memory.pk)], "importance": 5})
    changeset = bulk_change(access, change).changeset
    assert changeset is not None
    html = browser.get(f"/changesets/{changeset.pk}/").content.decode()
    assert "Importance set: 1 memory" in html
    assert "Likes tea." in html
    assert '<span class="vh">before: </span>3</del> <ins><span class="vh">after: </span>5</ins>' in html


def test_what_was_edited_since_is_left_and_listed(browser: Client, access: Access):
    """Point 2: undo lists what was edited since instead of clobbering it."""
    changeset = archive_together(access, "One.", "Two.", "Three.")
    edited = Memory.objects.order_by("id").first()
    assert edited is not None
    update_memory(access, edited.pk, MemoryChanges(importance=5))
    answer = browser.post(f"/changesets/{changeset.pk}/undo/", {"next": "/memories/"}, follow=True)
    html = unescape(answer.content.decode())
    assert answer.redirect_chain[-1][0] == f"/changesets/{changeset.pk}/"
    assert "Taken back: 2 memories. 1 edited since and left as they are." in html
    assert "Edited since, left as it is" in html
    assert "nobody’s later work is thrown away" in html
    assert Memory.objects.live().count() == 2
    only = browser.get(f"/changesets/{changeset.pk}/?refused=changed_since").content.decode()
    assert "One." in only
    assert "Two." not in only


def test_ticked_ones_are_taken_back(browser: Client, access: Access):
    changeset = archive_together(access, "One.", "Two.", "Three.")
    two = Memory.objects.order_by("id")[1]
    page = f"/changesets/{changeset.pk}/"
    assert "Tick at least one" in browser.post(f"{page}undo/", {"only": "ticked"}, follow=True).content.decode()
    browser.post(f"{page}undo/", {"only": "ticked", "id": str(two.pk)})
    assert [row.pk for row in Memory.objects.live()] == [two.pk]
    html = browser.get(page).content.decode()
    assert html.count("disabled") == 1
    browser.post(f"{page}undo/")
    assert Changeset.objects.get().state == "undone"
    assert "Undo all" not in browser.get(page).content.decode()


@pytest.mark.parametrize("address", ["?cursor=x", "?refused=nonsense", "?cursor=" + "9" * 3_000])
def test_any_address_is_answered(browser: Client, access: Access, address: str):
    changeset = archive_together(access, "One.")
    assert browser.get(f"/changesets/{changeset.pk}/{address}").status_code == 200
    assert browser.get(f"/activity/changesets/{address}").status_code == 200


def test_another_vaults_changeset_has_no_page(browser: Client, other_access: Access):
    changeset = archive_together(other_access, "Nobody's business.")
    assert browser.get(f"/changesets/{changeset.pk}/").status_code == 404
    assert browser.post(f"/changesets/{changeset.pk}/undo/").status_code == 404


def test_an_import_says_what_an_undo_leaves(browser: Client, access: Access, other_access: Access):
    """Only erasing deletes conversations; nobody should think that undoing did."""
    remember(other_access, "Mara works in Linz.")
    converse(other_access, "s1", "I moved.", "Where to?")
    imported = begin_import(access, ImportOptions(dry_run=False))
    stage_lines(access, imported.pk, export_vault(other_access))
    check_import(access, imported.pk)
    run_job(Job.objects.get(kind="import_vault").pk)
    page = f"/changesets/{Changeset.objects.get().pk}/"
    told = "An undo archives the memories of this import. It leaves 1 conversation and 2 messages that came with them"
    assert "Imported: 1 memory" in browser.get(page).content.decode()
    assert told in browser.get(page).content.decode()
    browser.post(f"{page}undo/")
    assert told in browser.get(page).content.decode()
    assert Session.objects.filter(vault=access.vault).count() == 1
    archive_together(access, "Something else.")
    other = Changeset.objects.exclude(action="import_vault").get()
    assert "An undo archives" not in browser.get(f"/changesets/{other.pk}/").content.decode()

"""A dry run says what a write would do, and leaves nothing behind."""

from __future__ import annotations

import pytest
from django.test import Client

from banks.access import Access
from banks.models import AuditEntry
from memories.models import DuplicatePair, Job, Memory, MemoryIndex, Revision
from memories.services.trying import try_text
from memoryhub.lib.errors import Invalid
from tests.factories import remember

pytestmark = pytest.mark.django_db
EVERYTHING = (Memory, MemoryIndex, Revision, DuplicatePair, Job, AuditEntry)


def counts() -> list[int]:
    return [model.objects.count() for model in EVERYTHING]


def test_new_texts_duplicates_and_facts_are_told_and_nothing_is_stored(access: Access):
    known = remember(access, "I live in Kiel.", bank="Work")
    before = counts()
    new = try_text(access, "Work", "The boiler was serviced in March.")
    assert new.as_it_is.result is not None
    assert (new.as_it_is.result.outcome, new.as_it_is.bank, new.facts) == ("created", "Work", [])
    again = try_text(access, "Work", "i live in kiel")
    assert again.as_it_is.result is not None
    assert again.as_it_is.result.outcome == "duplicate"
    assert again.as_it_is.met is not None
    assert again.as_it_is.met.pk == known.pk
    said = try_text(access, "Work", "I live in Bremen. I prefer tea.")
    assert len(said.facts) == 2
    assert counts() == before
    assert Memory.objects.get().content == "I live in Kiel."


def test_what_no_memory_can_hold_is_refused(access: Access):
    with pytest.raises(Invalid):
        try_text(access, "Work", "   ")


def test_the_box_of_a_bank(browser: Client, access: Access):
    assert 'href="/banks/work/try/"' in browser.get("/banks/work/").content.decode()
    html = browser.post("/banks/work/try/", {"text": "I live in <b>Kiel</b>."}).content.decode()
    assert "Would be written" in html
    assert "&lt;b&gt;Kiel" in html
    assert browser.post("/banks/work/try/", {"text": " "}).status_code == 422
    assert not Memory.objects.exists()

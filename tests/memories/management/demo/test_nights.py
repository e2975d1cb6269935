"""What the sample conversations left behind."""

from __future__ import annotations

import pytest

from banks.access import Access
from memories.management.demo.loading import tell
from memories.management.demo.nights import dream_of_talks
from memories.rules.vocabulary import DreamState
from memories.search.coredocument import read_core_document
from memories.search.dreams import list_dreams
from memories.search.notes import list_daily_notes

pytestmark = pytest.mark.django_db


def test_notes_of_three_days_and_two_versions(access: Access):
    """TIE-01: something to read on every page."""
    tell(access.vault)
    assert dream_of_talks(access.vault) == 9
    assert len(list_daily_notes(access)) >= 2
    document = read_core_document(access)
    assert document.newest == 2
    assert any("hazelnuts" in line.text for line in document.lines)
    assert [dream.state for dream in list_dreams(access)] == [DreamState.DONE, DreamState.DONE]

"""What a new memory resembles, whatever the size of the vault and whatever became of its index."""

from __future__ import annotations

import pytest

from banks.models import Vault
from memories.rules.vocabulary import Outcome
from memories.search import likeness
from memories.services.writing import WriteResult, write_batch
from tests.factories import draft, remember

PEOPLE = ["Jonas", "Miriam", "Oskar", "Paula"]


@pytest.mark.django_db
@pytest.mark.parametrize("at_once", [1, len(PEOPLE)], ids=["one by one", "in a batch"])
def test_a_large_vault_without_its_index_compares_all_the_same(access, at_once: int, monkeypatch: pytest.MonkeyPatch):
    """DUP-14: while the index is built, or nobody is there to build it, repetitions are kept out as ever."""
    monkeypatch.setattr(likeness, "READ_AT_ONCE", 3)
    there = [remember(access, f"{name} lives in the old house by the lake.").pk for name in PEOPLE]
    Vault.objects.filter(pk=access.vault_id).update(next_doc_no=1_000_000)
    again = [draft(f"In the old house by the lake {name} lives.") for name in PEOPLE]
    found = []
    for place in range(0, len(again), at_once):
        for one in write_batch(access, again[place : place + at_once]):
            assert isinstance(one, WriteResult)
            found.append((one.outcome, one.decided_by, one.duplicate_of))
    assert found == [(Outcome.DUPLICATE, "similarity", pk) for pk in there]

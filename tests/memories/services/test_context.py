"""What a write is given before its transaction."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from banks.access import Access
from memories.services.context import allocate_documents


def synchronous_commit() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_a_surrounding_transaction_still_waits_for_the_disk(access: Access):
    """S1: an answer kept for an Idempotency-Key commits with the write it answers, and acknowledged is on disk."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = on")
        first = allocate_documents(access.vault_id, 3).first_doc_no
        assert synchronous_commit() == "on"
    assert allocate_documents(access.vault_id, 1).first_doc_no == first + 3

"""The database refuses what no key of the vault opens."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from banks.access import Access
from banks.models import VaultKey
from banks.services.sealguard import guard_sealed_tables
from memories.models import Memory
from memoryhub.lib.constraints import violated
from memoryhub.lib.sealing import SEALED_UNDER_KNOWN_KEY, sealed_columns
from tests.factories import remember


def triggers() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE tgname LIKE 'sealed\\_%'"
        )
        return {name for (name,) in cursor.fetchall()}


def test_every_sealed_table_is_guarded(db: None):
    """ENC-18: also those that came with a later migration; doing it again changes nothing."""
    assert triggers() == {model._meta.db_table for model in sealed_columns()}
    assert guard_sealed_tables() == 0


def test_a_table_without_its_guard_gets_it_back(db: None):
    """A restored store has the tables and not the triggers."""
    with connection.cursor() as cursor:
        table = "tgrelid = 'memories_memory'::regclass"
        cursor.execute(f"SELECT tgname FROM pg_trigger WHERE {table} AND tgname LIKE 'sealed%'")
        ((name,),) = cursor.fetchall()
        cursor.execute(f"DROP TRIGGER {name} ON memories_memory")
    assert guard_sealed_tables() == 1
    assert "memories_memory" in triggers()


def test_nothing_is_written_into_a_vault_without_its_key(access: Access):
    """ENC-19: once the data key was destroyed, a request from before it cannot leave what nobody can read."""
    remember(access, "before")
    VaultKey.objects.filter(vault=access.vault).delete()
    with connection.cursor() as cursor:  # the transaction of the write ends here, and what it held with it
        cursor.execute("SELECT set_config('memoryhub.holds_data_key', '', true)")
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        Memory.objects.filter(vault=access.vault).get().save(update_fields=["importance"])
        again = Memory.objects.filter(vault=access.vault).get()
        again.content = "after"
        again.save(update_fields=["content"])
    assert violated(refused.value) == SEALED_UNDER_KNOWN_KEY

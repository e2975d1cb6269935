"""A test that committed leaves what Django's own way of emptying would: nothing."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection

from tests import emptying, factories

pytestmark = pytest.mark.django_db(transaction=True)


def filled() -> dict[str, int]:
    """Table → rows, of those that have any."""
    with connection.cursor() as cursor:
        found = {}
        for table in connection.introspection.django_table_names(only_existing=True, include_views=False):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
            found[table] = cursor.fetchone()[0]
    return {table: rows for table, rows in found.items() if rows}


def test_it_leaves_what_flushing_leaves():
    call_command("flush", verbosity=0, interactive=False)
    flushed = filled()
    assert set(flushed) == emptying.KEPT
    access = factories.operator(factories.make_vault())
    factories.dreamt_of(access, factories.remember(access))
    assert len(filled()) > 20
    assert emptying.empty_database()
    assert filled() == flushed


def test_foreign_keys_and_triggers_are_heeded_again():
    factories.remember(factories.operator(factories.make_vault()))
    assert emptying.empty_database()
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)


def test_what_has_grown_large_is_left_to_flushing(monkeypatch: pytest.MonkeyPatch):
    factories.make_vault()
    monkeypatch.setattr(emptying, "BYTES_MAX", 0)
    before = filled()
    assert not emptying.empty_database()
    assert filled() == before

"""An empty database after a test that committed, in a twentieth of the time Django takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase

#: Written once, by the migrations, and by Django again whenever it has emptied everything.
KEPT = {"auth_permission", "django_content_type"}
#: Above it the tables are truncated, so that what was deleted does not pile up.
BYTES_MAX = 16 * 2**20


def empty_database() -> bool:
    """Every table but those of what exists is empty, as after Django's flush; False where that has to do it.

    TRUNCATE makes new files for each table and index, of which there are 500, while a test writes to a dozen.
    """
    assert not connection.in_atomic_block, "a module with a common_ground has no tests with transaction=True"
    tables = sorted(set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT)
    named = [connection.ops.quote_name(table) for table in tables]
    sizes = ", ".join(f"pg_relation_size('{name}')" for name in named)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT has_parameter_privilege('session_replication_role', 'SET'),"
            f" (SELECT sum(bytes) FROM unnest(ARRAY[{sizes}]) AS bytes)"
        )
        may, size = cursor.fetchone() or (False, 0)
        if not may or size > BYTES_MAX:
            return False
        # Neither triggers nor foreign keys have a say, as with TRUNCATE; threads that still write are waited for.
        cursor.execute(
            f"SET LOCAL session_replication_role = replica; LOCK TABLE {', '.join(named)} IN SHARE ROW EXCLUSIVE MODE;"
            + "".join(f"DELETE FROM {name};" for name in named)
        )
    return True


@contextmanager
def quick_emptying() -> Iterator[None]:
    """Tests with transactions of their own are followed by ``empty_database``."""
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def teardown(case: TransactionTestCase) -> None:
        if not empty_database():
            flush(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", teardown)
        yield

"""A connection that the server ended is noticed before a request gets it."""

from __future__ import annotations

import select
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection as django_connection

from memoryhub.lib.connections import check_if_it_speaks


def _opened() -> psycopg.Connection[Any]:
    options = django_connection.get_connection_params()
    return psycopg.connect(**{**options, "autocommit": True, "cursor_factory": None})


@pytest.fixture
def idle(db) -> Iterator[psycopg.Connection[Any]]:
    """A connection that nobody uses at the moment."""
    with _opened() as connection:
        yield connection


def test_a_silent_connection_is_taken_as_it_is(idle):
    before = idle.execute("SELECT query_start FROM pg_stat_activity WHERE pid = pg_backend_pid()").fetchone()
    check_if_it_speaks(idle)
    with django_connection.cursor() as cursor:
        cursor.execute("SELECT query_start FROM pg_stat_activity WHERE pid = %s", [idle.info.backend_pid])
        assert cursor.fetchone() == before


def test_one_that_the_server_ended_is_refused(idle):
    """Nobody's request is spent on finding out."""
    with django_connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [idle.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        check_if_it_speaks(idle)
    assert idle.closed


def test_one_with_a_mere_notice_goes_on(idle):
    idle.execute("LISTEN here")
    with _opened() as another:
        another.execute("NOTIFY here")
    select.select([idle], [], [], 5)  # until it has arrived
    check_if_it_speaks(idle)
    assert idle.execute("SELECT 1").fetchone() == (1,)
    assert not select.select([idle], [], [], 0)[0]

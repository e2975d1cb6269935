"""System: parts, room and configuration, without a secret."""

from __future__ import annotations

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memoryhub.env import _without_password, configuration, secrets

pytestmark = pytest.mark.django_db


def test_parts_sizes_and_for_the_operator_the_configuration(browser: Client, owner: User, access: Access):
    with CaptureQueriesContext(connection) as asked:
        html = unescape(browser.get("/system/").content.decode())
    assert len(asked) <= 15
    for shown in ("PostgreSQL", "pgvector", "memories_memory", "in all, every vault together"):
        assert shown in html, shown
    assert ("MEMORYHUB_LOG_LEVEL" in html) == owner.is_superuser
    owner.is_superuser = True
    owner.save()
    html = unescape(browser.get("/system/").content.decode())
    assert "MEMORYHUB_LOG_LEVEL" in html
    assert secrets().secret_key not in html


def test_no_variable_shows_a_secret():
    told = {one.name: one for one in configuration()}
    assert told["MEMORYHUB_KEYS"].value in {"Set, not shown", "Not set"}
    assert told["MEMORYHUB_PEPPER"].source in {"file", "environment"}
    assert _without_password("postgresql://hub:secret@db/hub?password=x") == "postgresql://db/hub"
    assert _without_password("redis+socket:///run/valkey.sock?virtual_host=0") == "redis+socket:///run/valkey.sock"

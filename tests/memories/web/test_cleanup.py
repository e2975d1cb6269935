"""The dry run: what would go and why; looking changes nothing."""

from __future__ import annotations

import pytest
from django.test import Client

from banks.access import Access
from memories.models import Memory
from tests.factories import remember

pytestmark = pytest.mark.django_db


def test_candidates_are_grouped_by_reason_and_nothing_changes(browser: Client, access: Access):
    """CLN-02, CLN-03, CLN-06, CLN-08, CLN-10."""
    old = {"created_at": "2025-01-01T00:00:00Z"}
    remember(access, "An old episode.", type="episodic", importance=2, **old)
    remember(access, "Trivial and old.", type="fact", importance=1, **old)
    remember(access, "Old but protected.", type="episodic", importance=1, is_protected=True, **old)
    remember(access, "Old but important.", type="episodic", importance=5, **old)
    before = list(Memory.objects.order_by("pk").values_list("pk", "version", "archived_at", "updated_at"))
    html = browser.get("/cleanup/").content.decode()
    assert "This is a dry run." in html
    assert "An old episode." in html
    assert "Trivial and old." in html
    assert "Old but protected." not in html
    assert "Old but important." not in html
    assert "older than 30 days, importance 2 or less" in html
    assert list(Memory.objects.order_by("pk").values_list("pk", "version", "archived_at", "updated_at")) == before


def test_an_empty_plan_says_so(browser: Client, access: Access):
    remember(access, "Fresh.")
    html = browser.get("/cleanup/").content.decode()
    assert html.count("Nothing.") == 4

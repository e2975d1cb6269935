"""The audit as sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.web.activity import SAID
from tests.factories import remember

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]


def test_every_verb_of_the_audit_has_words():
    """“The hub add messages a session” is no sentence."""
    written = {
        verb
        for room in ("memories/services", "banks/services")
        for path in (ROOT / room).glob("*.py")
        for verb in re.findall(r'Audited\(\s*"([a-z_]+)"', path.read_text())
    }
    assert len(written) > 20, "where the verbs are found has changed"
    assert sorted(written - set(SAID)) == []


def test_the_same_many_times_in_a_row_is_one_line(browser: Client, access: Access):
    memory = remember(access, "The cello lesson.")
    for _ in range(4):
        record_audit(access, Audited("create_link", "link", memory.pk))
    html = browser.get("/activity/").content.decode()
    assert len(re.findall("linked two memories", html)) == 1
    assert re.search(r'linked two memories, <span class="num">4</span> times', html)

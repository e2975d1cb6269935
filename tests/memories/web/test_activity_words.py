"""The audit as sentences."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.test import Client

from banks.access import Access
from banks.services.audit import Audited, record_audit
from memories.rules.bulk import BulkAction
from memories.web.activity import SAID
from tests.factories import remember

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]


#: Where the verb stands in each call that ends in the audit.
VERB_AT = {"Audited": 0, "Change": 0, "added": 0, "open_changeset": 1, "_note": 2, "_done": 0}
IRREGULAR = {"set", "wrote", "went", "took", "gave", "made", "had", "sent", "rewrote", "reset"}


def verbs_in(path: Path) -> set[str]:
    """The verbs a module gives to the audit: words, or its own constants."""
    tree = ast.parse(path.read_text())
    own = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.targets[0], ast.Name)
    }
    found = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        place = VERB_AT.get(getattr(call.func, "id", ""))
        for value in ast.walk(call.args[place]) if place is not None and len(call.args) > place else ():
            word = own.get(value.id) if isinstance(value, ast.Name) else getattr(value, "value", None)
            found |= {word} if isinstance(word, str) and re.fullmatch("[a-z]+(_[a-z]+)*", word) else set()
    return found


def test_every_verb_of_the_audit_has_words():
    """“The hub add messages a session” is no sentence: each verb is said in the past."""
    rooms = ("memories/services", "memories/management", "banks/services", "banks")
    written = {verb for room in rooms for path in (ROOT / room).rglob("*.py") for verb in verbs_in(path)}
    written |= {action.verb for action in BulkAction}
    assert len(written) > 60, "where the verbs are found has changed"
    assert sorted(written - set(SAID)) == []
    firsts = {words.split()[0] for words, _ in SAID.values()}
    assert sorted(one for one in firsts if not one.endswith("ed") and one not in IRREGULAR) == []


def test_the_same_many_times_in_a_row_is_one_line(browser: Client, access: Access):
    memory = remember(access, "The cello lesson.")
    for _ in range(4):
        record_audit(access, Audited("create_link", "link", memory.pk))
    html = browser.get("/activity/").content.decode()
    assert len(re.findall("linked two memories", html)) == 1
    assert re.search(r'linked two memories, <span class="num">4</span> times', html)

"""What a memory is connected to, in the browser: the drawing, its table, links that come and go."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.access import Access
from memories.models import Link, Memory
from memories.rules.vocabulary import Relation
from memories.services.linking import create_link
from tests.factories import make_pair, remember

pytestmark = pytest.mark.django_db


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return unescape(response.content.decode())


def circles(html: str) -> list[str]:
    return re.findall(r'<a href="([^"]+)" class="node', html)


def test_the_drawing_and_the_table_say_the_same(browser: Client, access: Access):
    middle = remember(access, "Anna moved to Kiel.", entities=["Anna"])
    backed = remember(access, "Kiel lies by the sea.")
    sister = remember(access, "Anna has a sister.", entities=["Anna"])
    rival = remember(access, "Anna moved to Bremen, they say.")
    create_link(access, backed.pk, middle.pk, Relation.SUPPORTS)
    create_link(access, middle.pk, rival.pk, Relation.CONTRADICTS)
    html = page(browser, f"/memories/{middle.pk}/")
    assert circles(html) == [f"/memories/{one.pk}/" for one in (backed, rival, sister)]
    assert "<title>Supported by: Kiel lies by the sea.</title>" in html
    table = re.search(r'class="table stacks ego-table">.*?</table>', html, re.DOTALL)
    assert table
    rows = re.findall(r'<tr><td class="num cell-inline">(\d+)</td>.*?<div class="row">([^<]+)', table[0], re.DOTALL)
    assert rows == [("1", "Supported by"), ("2", "Contradicts"), ("3", "Also about Anna")]
    assert "3 memories one step away" in html


def test_a_crowd_is_cut_and_counted(browser: Client, access: Access):
    middle = remember(access, "The middle.")
    for number in range(64):
        other = remember(access, f"Something else entirely, number {number} of many.", dedup=False)
        create_link(access, middle.pk, other.pk, Relation.RELATED)
    html = page(browser, f"/memories/{middle.pk}/connections/")
    assert len(circles(html)) == 59
    assert "5 more were left out" in html


def test_two_steps_are_a_link_away(browser: Client, access: Access):
    one, two, three = (remember(access, text) for text in ("A cello.", "Rain at noon.", "Port 8000 is taken."))
    create_link(access, one.pk, two.pk, Relation.REFINES)
    create_link(access, two.pk, three.pk, Relation.REFINES)
    assert f'href="/memories/{three.pk}/"' not in page(browser, f"/memories/{one.pk}/connections/")
    address = f"/memories/{one.pk}/connections/?steps=2"
    assert address in page(browser, f"/memories/{one.pk}/")
    page(browser, address)
    with CaptureQueriesContext(connection) as asked:
        html = page(browser, address)
    assert circles(html) == [f"/memories/{two.pk}/", f"/memories/{three.pk}/"]
    assert "Refines number 1" in html
    assert len(asked) <= 15


def test_links_come_and_go_by_plain_forms(browser: Client, access: Access):
    one, two = remember(access, "This."), remember(access, "That, quite another.")
    address = f"/memories/{one.pk}/"
    response = browser.post(
        f"{address}links/", {"relation": "supports", "target": f"https://hub.example/memories/{two.pk}/"}
    )
    assert response.status_code == 303
    link = Link.objects.get()
    assert (link.source_id, link.target_id, link.relation) == (one.pk, two.pk, "supports")
    html = page(browser, f"/memories/{two.pk}/")
    remove = re.search(r'action="([^"]+/remove/)"', html)
    assert remove
    browser.post(remove[1])
    assert not Link.objects.exists()
    wrong = [("supersedes", two.pk), ("nonsense", two.pk), ("related", "nothing"), ("related", one.pk)]
    for relation, target in wrong:
        answer = browser.post(f"{address}links/", {"relation": relation, "target": str(target)})
        assert answer.status_code in {303, 404}
    assert not Link.objects.exists()


def test_a_replacement_is_no_link_to_take_away(browser: Client, access: Access):
    old = remember(access, "She lives in Bremen.")
    new = remember(access, "She lives in Kiel.", supersedes=str(old.pk))
    link = Link.objects.get()
    browser.post(f"/memories/{new.pk}/links/{link.pk}/remove/")
    assert Link.objects.exists()
    html = page(browser, f"/memories/{new.pk}/")
    undo = re.search(r'action="([^"]+)"[^>]*>(?:(?!</form>).)*Undo this replacement', html, re.DOTALL)
    assert undo
    browser.post(undo[1])
    assert not Memory.objects.get(pk=old.pk).archived
    assert Memory.objects.get(pk=old.pk).superseded_by_id is None


def test_a_text_that_does_not_open_breaks_only_itself(browser: Client, access: Access):
    middle, broken = remember(access, "Still here."), remember(access, "Broken soon.")
    create_link(access, middle.pk, broken.pk, Relation.RELATED)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memories_memory SET content = %s WHERE id = %s", [b"\x01broken", broken.pk])
    html = page(browser, f"/memories/{middle.pk}/")
    assert "Still here." in html
    assert "Related to: Cannot be opened" in html
    assert "This text cannot be opened" in page(browser, f"/memories/{broken.pk}/")


def test_pairs_that_wait_in_review_are_shown(browser: Client, access: Access):
    one, two = remember(access, "Tea at four."), remember(access, "Supper at eight.")
    make_pair(one, two)
    assert "Waits in review beside" in page(browser, f"/memories/{one.pk}/connections/")

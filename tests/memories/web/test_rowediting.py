"""A line of the list: looked into, edited in place, and two people at one line."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from banks.access import Access
from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.services.editing import update_memory
from tests.factories import remember

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Target": "row"}


def sent(memory: Memory, **more: Any) -> dict[str, Any]:
    return {"version": memory.version, "content": memory.content, "bank": memory.bank.slug, "tags": "", **more}


def test_a_line_opens_in_place_and_is_a_page_without_htmx(browser: Client, access: Access):
    memory = remember(access, "Oat milk in the coffee. " * 30, tags=["coffee"])
    part = browser.get(f"/memories/{memory.pk}/peek/", headers=HTMX).content.decode()
    assert "<html" not in part
    assert "#coffee" in part
    plain = browser.get(f"/memories/{memory.pk}/peek/?list=bank%3Dwork")
    assert (plain.status_code, plain["Location"]) == (303, f"/memories/{memory.pk}/?list=bank%3Dwork")


def test_text_bank_and_tags_are_edited_in_the_line(browser: Client, access: Access):
    memory = remember(access, "Oat milk.", bank="Work", importance=5)
    url = f"/memories/{memory.pk}/row/edit/"
    form = browser.get(url, headers=HTMX).content.decode()
    assert form.lstrip().startswith('<tr class="editing"')
    answer = browser.post(url, sent(memory, content="Almond milk.", tags="a, b"), headers=HTMX, follow=True)
    html = answer.content.decode()
    assert html.lstrip().startswith("<tr data-row")
    assert "Almond milk." in html
    assert "Saved as version 2." in html
    memory.refresh_from_db()
    assert (memory.content, memory.tags, memory.importance) == ("Almond milk.", ["a", "b"], 5)
    plain = browser.get(f"{url}?list=bank%3Dwork")
    assert plain["Location"] == f"/memories/{memory.pk}/edit/?list=bank%3Dwork"


@pytest.mark.parametrize("in_row", [True, False])
def test_a_conflict_shows_what_it_was_theirs_and_yours(browser: Client, access: Access, in_row: bool):
    """What only they changed is taken over; what both changed waits for a decision; saving again saves mine."""
    memory = remember(access, "The house is blue.", bank="Work")
    update_memory(access, memory.pk, MemoryChanges(content="The house is red.", tags=["paint"]))
    url = f"/memories/{memory.pk}/{'row/' if in_row else ''}edit/"
    form: dict[str, Any] = sent(memory, content="The house is green.")
    if not in_row:
        form |= {"type": "fact", "importance": "3", "confidence": "3", "category": "", "entities": "", "reason": ""}
    answer = browser.post(url, form, headers=HTMX if in_row else {})
    html = answer.content.decode()
    assert answer.status_code == 412
    assert "What it was, version 1" in html
    assert "The house is blue." in html
    assert "removed: </span>blue" in html
    assert "added: </span>red" in html
    assert "added: </span>green" in html
    assert "Save mine over it" in html
    assert "Use theirs" in html
    assert 'name="version" value="2"' in html
    assert "paint" in html, "what only they changed is in the form"
    answer = browser.post(url, {**form, "version": 2, "tags": "paint"}, headers=HTMX if in_row else {})
    memory.refresh_from_db()
    assert (memory.content, memory.tags, memory.version) == ("The house is green.", ["paint"], 3)


def test_a_mistake_stays_in_the_line(browser: Client, access: Access):
    memory = remember(access, "Oat milk.")
    answer = browser.post(f"/memories/{memory.pk}/row/edit/", sent(memory, content=""), headers=HTMX)
    assert answer.status_code == 422
    assert "required" in answer.content.decode()


def test_the_line_by_itself(browser: Client, access: Access):
    memory = remember(access, "Oat milk.")
    assert browser.get(f"/memories/{memory.pk}/row/", headers=HTMX).content.decode().lstrip().startswith("<tr data-row")
    assert browser.get(f"/memories/{memory.pk}/row/?list=bank%3Dwork")["Location"] == "/memories/?bank=work"

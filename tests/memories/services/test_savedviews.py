"""Saved views: one's own by name, shared ones to be seen, sealed in the database."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection

from banks.access import Access, Actor
from memories.rules.savedviews import ViewDraft
from memories.services import savedviews
from memories.services.savedviews import TooManyViews, delete_view, list_views, save_view
from memoryhub.lib.errors import NotFound

pytestmark = pytest.mark.django_db


def person(access: Access, name: str) -> Access:
    return replace(access, actor=Actor("user", name, name))


def test_a_name_stands_once_for_one_person(access: Access):
    anna, ben = person(access, "1"), person(access, "2")
    first = save_view(anna, ViewDraft(name="To do", address="type=task"))
    again = save_view(anna, ViewDraft(name="to DO", address="type=task&bank=work"))
    save_view(ben, ViewDraft(name="To do"))
    assert first.pk == again.pk
    assert [view.address for view in list_views(anna)] == ["type=task&bank=work"]


def test_others_see_what_is_shared_and_change_nothing(access: Access):
    anna, ben = person(access, "1"), person(access, "2")
    private = save_view(anna, ViewDraft(name="Mine"))
    shared = save_view(anna, ViewDraft(name="Ours", is_shared=True))
    assert [view.pk for view in list_views(ben)] == [shared.pk]
    for view in (private, shared):
        with pytest.raises(NotFound):
            delete_view(ben, view.pk)
    delete_view(anna, private.pk)
    assert [view.pk for view in list_views(anna)] == [shared.pk]


def test_there_is_an_end_to_it(access: Access, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(savedviews, "VIEWS_MAX", 1)
    save_view(access, ViewDraft(name="One"))
    save_view(access, ViewDraft(name="One", address="type=fact"))
    with pytest.raises(TooManyViews):
        save_view(access, ViewDraft(name="Two"))


def test_name_and_search_are_sealed(access: Access):
    save_view(access, ViewDraft(name="Heather’s diagnosis", address="q=heather"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT v::text FROM memories_savedview v")
        text = cursor.fetchone()[0]
    assert b"heather".hex() not in text
    assert "eather" not in text

"""A page of which one part failed still shows the others."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.template.loader import render_to_string

from memoryhub.lib.errors import HubError, NotFound, Unavailable
from memoryhub.lib.pages import Failed, part_of


def refusing(error: Exception):
    def make() -> int:
        raise error

    return make


def test_what_went_well_is_itself():
    assert part_of(lambda: 7, "The number") == 7


@pytest.mark.parametrize("error", [Unavailable("The embedder is away."), OperationalError("timeout")])
def test_what_is_away_becomes_words(error: Exception):
    found = part_of(refusing(error), "The plot", "Lists and search work.")
    assert isinstance(found, Failed)
    assert found.failed is found
    html = render_to_string("parts/failed.html", {"failed": found})
    for said in ("The plot cannot be shown just now.", found.why, "Lists and search work.", "Try again"):
        assert said in html
    assert "timeout" not in html


@pytest.mark.parametrize("error", [NotFound(), ValueError("ours")])
def test_what_is_no_outage_is_not_hidden(error: Exception):
    with pytest.raises((HubError, ValueError)):
        part_of(refusing(error), "The plot")


def test_an_empty_part_says_what_to_do_next():
    words = {"title": "No webhooks yet", "text": "Tell a program.", "url": "#new", "label": "New webhook"}
    html = render_to_string("parts/empty.html", words)
    assert "<h2>No webhooks yet</h2>" in html
    assert '<a class="btn primary" href="#new">New webhook</a>' in html

"""Namespaces with places to fill."""

from __future__ import annotations

import pytest

from memoryhub.client import NamespaceIncomplete, NamespaceTemplate


def test_places_are_filled():
    """MOD-22, MOD-23: of any length up to four."""
    assert NamespaceTemplate(("user", "{user_id}"))(user_id="u-123") == ("user", "u-123")
    template = NamespaceTemplate(("org", "{org}", "agent-{agent_id}"))
    assert template(org="acme", agent_id="alpha") == ("org", "acme", "agent-alpha")
    assert template.places == ["org", "agent_id"]
    assert NamespaceTemplate("default")() == ("default",)


@pytest.mark.parametrize("values", [{}, {"user_id": None}, {"user_id": ""}, {"user": "u"}])
def test_an_empty_place_is_an_error(values: dict[str, str | None]):
    """MOD-24: never a shared namespace by mistake."""
    with pytest.raises(NamespaceIncomplete, match="user_id"):
        NamespaceTemplate(("user", "{user_id}"))(**values)
    for bad in ((), ("a", ""), tuple("abcde")):
        with pytest.raises(ValueError, match="1 to 4"):
            NamespaceTemplate(bad)

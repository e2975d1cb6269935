"""Keys made at a terminal."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from banks.access import ALL_SCOPES, SCOPES_FOR, access_from_secret
from banks.models import Vault

pytestmark = pytest.mark.django_db


def made(vault: Vault, *words: str) -> frozenset[str]:
    out = StringIO()
    call_command("create_key", "--vault", vault.name, "--json", *words, stdout=out)
    return access_from_secret(json.loads(out.getvalue())["api_key"], "").scopes


@pytest.mark.parametrize("whom", SCOPES_FOR)
def test_a_key_may_do_what_somebody_like_that_needs(vault: Vault, whom: str):
    assert made(vault, "--for", whom) == set(SCOPES_FOR[whom])


def test_without_a_word_it_may_do_everything_and_single_scopes_are_that(vault: Vault):
    assert made(vault) == ALL_SCOPES
    assert made(vault, "--scope", "memories:read", "--scope", "export") == {"memories:read", "export"}
    with pytest.raises(CommandError):
        made(vault, "--scope", "memories:read", "--for", "agent")

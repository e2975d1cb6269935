"""Vaults: made whole or not at all."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError

from banks.access import access_from_user
from banks.models import AuditEntry, Bank, Vault, VaultKey
from banks.services import vaults
from banks.services.vaults import FIRST_BANKS, VaultNameTaken, create_vault, find_vault
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import operator, remember


@pytest.mark.django_db
def test_a_vault_is_ready_at_once():
    """BNK-03, ENC-18: its own data key, seven banks, its owners, an audit row."""
    ada = User.objects.create_user("ada")
    vault = create_vault("  Ada's   vault ", ada)
    assert vault.name == "Ada's vault"
    assert VaultKey.objects.filter(vault=vault).count() == 1
    assert set(Bank.objects.filter(vault=vault).values_list("name", flat=True)) == set(FIRST_BANKS)
    assert access_from_user(ada, vault.pk, "r").vault_id == vault.pk
    assert AuditEntry.objects.get(vault=vault).action == "create_vault"
    assert remember(operator(vault)).doc_no == 0


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\x00b"])
def test_a_name_must_be_one(name):
    """API-17: 1 to 100 characters that can be stored."""
    with pytest.raises(Invalid):
        create_vault(name)


@pytest.mark.django_db
def test_names_are_taken_once_and_found(vault):
    """BNK-13: by name without case or by id; unknown ones name those there are."""
    with pytest.raises(VaultNameTaken):
        create_vault("Home")
    assert find_vault("hOmE") == find_vault(str(vault.pk)) == vault
    with pytest.raises(NotFound, match="Home"):
        find_vault("Elsewhere")


@pytest.mark.django_db
def test_half_a_vault_is_none(monkeypatch):
    """ENC-19: when its key cannot be stored there is no vault."""

    def fail(*_: object) -> None:
        raise DatabaseError("no space left")

    monkeypatch.setattr(vaults, "add_data_key", fail)
    with pytest.raises(DatabaseError):
        create_vault("Half")
    assert not Vault.objects.filter(name="Half").exists()

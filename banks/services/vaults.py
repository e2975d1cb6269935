"""Vaults: created whole, with their data key and the seven banks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from banks.access import system_access
from banks.access.keyring import add_data_key, verify_master_keys
from banks.models import Bank, Membership, MembershipRole, Vault
from banks.services.audit import Audited, record_audit
from banks.services.banks import new_bank
from memoryhub.lib.constraints import violated
from memoryhub.lib.errors import Conflict, FieldError, Invalid, NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NAME_MAX = 100

#: The banks a vault starts with and what belongs in each (BNK-03, BNK-06); the first is the default.
FIRST_BANKS = {
    "General": "What does not clearly fit anywhere else.",
    "Personal": "Family, personal preferences, habits.",
    "Work": "Professional goals, job skills, work relationships.",
    "Relationships": "People and how they are connected.",
    "Health": "Health, sleep, sport, food.",
    "Interests": "Hobbies and things enjoyed.",
    "Events": "What happened or will happen on a date.",
}


class VaultNameTaken(Conflict):
    """A vault with that name is already there; choose another name."""

    code = "vault_name_taken"


def create_vault(name: str, *owners: User) -> Vault:
    """A vault with its data key, its first banks and its owners. Raises VaultNameTaken, Invalid, WrongKey.

    Takes no Access, since there is nothing yet to have access to; called by operators, never by API keys.
    """
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_MAX or "\x00" in name:
        errors = [FieldError("/name", "length", f"must have 1 to {NAME_MAX} characters")]
        raise Invalid(f"A vault's name has 1 to {NAME_MAX} characters.", errors=errors)
    # A key the store was not made with must not begin to write, whoever forgot to check it at the start.
    verify_master_keys()
    vault = Vault(name=name)
    try:
        with transaction.atomic():
            vault.save(force_insert=True)
            add_data_key(vault)
            Bank.objects.bulk_create(
                [new_bank(vault.pk, bank, about, is_default=bank == "General") for bank, about in FIRST_BANKS.items()]
            )
            Membership.objects.bulk_create(
                [Membership(vault=vault, user=owner, role=MembershipRole.OWNER) for owner in owners]
            )
            record_audit(system_access(vault.pk), Audited("create_vault", "vault", vault.pk))
    except IntegrityError as error:
        if not (violated(error) or "").startswith("banks_vault_name"):
            raise
        raise VaultNameTaken from None
    return vault


def find_vault(name_or_id: str) -> Vault:
    """A vault by name or id, for operators. Raises NotFound naming the vaults there are."""
    for vault in Vault.objects.all():
        if name_or_id.casefold() in {vault.name.casefold(), str(vault.pk)}:
            return vault
    known = ", ".join(Vault.objects.values_list("name", flat=True)) or "none"
    raise NotFound(f"There is no vault “{name_or_id}”. The vaults are: {known}.")

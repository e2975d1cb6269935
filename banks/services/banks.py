"""Banks: found by name, created, renamed, hidden."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from banks.access import Access, KeyScope, WholeVaultNeeded
from banks.models import Bank, Vault
from banks.services.audit import Audited, record_audit
from banks.services.drafts import BankChanges, BankDraft
from memoryhub.lib.clock import now
from memoryhub.lib.constraints import violated
from memoryhub.lib.errors import Conflict, FieldError, Invalid, NotFound
from memoryhub.lib.ids import short_id

KEY_MAX = 100
#: Words other systems use for a bank of ours (CON-05).
ALIASES = {"hobby": "interests", "hobbies": "interests"}


class UnknownBank(Invalid):
    """There is no such bank in this vault."""

    code = "unknown_bank"


class BankNameTaken(Conflict):
    """A bank with that name is already there; choose another name or use that bank."""

    code = "bank_name_taken"


class DefaultBankStays(Conflict):
    """The default bank cannot be hidden; make another bank the default first."""

    code = "default_bank_stays"


def name_key(name: str) -> str:
    """What two names must share to be the same bank: NFKC, trimmed, without case (BNK-13)."""
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def list_banks(access: Access, include_hidden: bool = False) -> list[Bank]:
    """The banks the caller may use, the default first, then by name (BNK-09)."""
    access.require(KeyScope.MEMORIES_READ)
    return _reachable(access, include_hidden)


def all_banks(access: Access) -> tuple[Bank, ...]:
    """Every bank of the vault, for a search that knows which of them its caller may name."""
    return _banks_of(access.vault_id)


def _reachable(access: Access, include_hidden: bool = False) -> list[Bank]:
    return [
        bank for bank in _banks_of(access.vault_id) if _may_use(access, bank) and (include_hidden or not bank.is_hidden)
    ]


def _banks_of(vault_id: UUID) -> tuple[Bank, ...]:
    return tuple(Bank.objects.filter(vault_id=vault_id).order_by("-is_default", "name"))


def _may_use(access: Access, bank: Bank) -> bool:
    return access.may_use_bank(bank.pk)


@lru_cache(maxsize=4_096)
def remembered_banks(vault_id: UUID, config_version: int) -> tuple[Bank, ...]:
    """The vault's banks, default first, as of a version of its configuration: a hot path asks the database once."""
    return _banks_of(vault_id)


def bank_names(access: Access) -> dict[str, str]:
    """Id → name of every bank the caller may use, hidden ones too; mostly no query. Needs memories:read."""
    access.require(KeyScope.MEMORIES_READ)
    known = remembered_banks(access.vault_id, access.vault.config_version)
    return {str(bank.pk): bank.name for bank in known if _may_use(access, bank)}


def find_bank(access: Access, name: str, pointer: str = "/bank") -> Bank:
    """The bank with that name, slug, alias or id. Raises UnknownBank naming the banks there are (BNK-02)."""
    return pick_bank(access, _banks_of(access.vault_id), name, pointer)


def pick_bank(access: Access, banks: Sequence[Bank], name: str, pointer: str = "/bank") -> Bank:
    """The same among banks that are in hand."""
    banks = [bank for bank in banks if _may_use(access, bank)]
    wanted = name_key(name)
    wanted = ALIASES.get(wanted, wanted) if not any(bank.name_key == wanted for bank in banks) else wanted
    # Names before slugs: a renamed bank keeps its slug, and a new one may have its old name.
    for is_it in (lambda bank: wanted in {bank.name_key, str(bank.pk)}, lambda bank: wanted == bank.slug):
        if (found := next(filter(is_it, banks), None)) is not None:
            return found
    visible = [bank.name for bank in banks if not bank.is_hidden]
    known = ", ".join(visible) or "none"
    raise UnknownBank(
        f"There is no bank “{name}” in this vault. The banks are: {known}.",
        errors=[FieldError(pointer, "unknown_bank", f"must be one of: {known}")],
        extra={"banks": visible},
    )


def find_banks(access: Access, names: list[str], pointer: str = "/banks") -> list[Bank]:
    """The banks with those names, in that order. Raises UnknownBank."""
    return [find_bank(access, name, f"{pointer}/{place}") for place, name in enumerate(names)]


def pick_default(access: Access, banks: Sequence[Bank]) -> Bank:
    """Where a write without a bank goes: the agent's default, else the vault's (BNK-01).

    Raises UnknownBank when the caller's key does not reach it.
    """
    chosen = access.agent.default_bank_id if access.agent else None
    bank = next((bank for bank in banks if (bank.pk == chosen if chosen else bank.is_default)), None)
    if bank is None or not _may_use(access, bank):
        known = ", ".join(found.name for found in banks if _may_use(access, found) and not found.is_hidden) or "none"
        raise UnknownBank(
            f"Say which bank; this key does not reach the default one. The banks are: {known}.",
            errors=[FieldError("/bank", "required", f"must be one of: {known}")],
        )
    return bank


def get_bank(access: Access, slug_or_id: str | UUID) -> Bank:
    """One bank by slug, name or id. Raises NotFound."""
    access.require(KeyScope.MEMORIES_READ)
    try:
        return find_bank(access, str(slug_or_id))
    except UnknownBank:
        raise NotFound("There is no such bank in this vault.") from None


def create_bank(access: Access, draft: BankDraft) -> Bank:
    """A new bank. Needs banks:admin. Raises BankNameTaken, WholeVaultNeeded for a key that is limited to others."""
    access.require(KeyScope.BANKS_ADMIN)
    _require_all_banks(access)
    bank = new_bank(access.vault_id, draft.name, draft.description)
    with _names_told_apart(), transaction.atomic():
        _refuse_ids(bank, _locked_banks(access.vault_id))
        if Bank.objects.filter(vault_id=access.vault_id, slug=bank.slug).exists():
            bank.slug = f"{bank.slug}-{short_id(bank.pk)}"  # C and C++ are two names
        bank.save(force_insert=True)
        record_audit(access, Audited("create_bank", "bank", bank.pk))
    return bank


def _require_all_banks(access: Access) -> None:
    if access.bank_ids is not None:
        raise WholeVaultNeeded


@contextmanager
def _names_told_apart() -> Iterator[None]:
    """Turns the refusal of a second bank of one name into BankNameTaken; any other refusal is a fault of ours."""
    try:
        yield
    except IntegrityError as error:
        if violated(error) != "bank_name_once":
            raise
        raise BankNameTaken from None


def _locked_banks(vault_id: UUID) -> dict[UUID, Bank]:
    """The vault's banks as they are now: names, slugs and the default are one decision, so they change one at a time.

    The vault first, which keeps new banks out and is locked by every change of a bank anyway (its configuration's
    version); then the banks, in the order of their ids, so that two callers never wait for each other.
    """
    Vault.objects.select_for_update(no_key=True).get(pk=vault_id)
    banks = Bank.objects.select_for_update(no_key=True).filter(vault_id=vault_id).order_by("pk")
    return {bank.pk: bank for bank in banks}


def _refuse_ids(named: Bank, banks: Mapping[UUID, Bank]) -> None:
    """Raises BankNameTaken for a name that is another bank's id: whoever wrote the id would find the wrong bank."""
    try:
        meant = UUID(named.name_key)
    except ValueError:
        return
    if meant in banks and meant != named.pk:
        raise BankNameTaken("That name is the id of another bank; choose another name.")


def new_bank(vault_id: UUID, name: str, description: str = "", is_default: bool = False) -> Bank:
    """The row of a bank, not saved; names without letters get a slug from their id."""
    bank = Bank(vault_id=vault_id, name=name, name_key=_new_key(name), description=description, is_default=is_default)
    bank.slug = slugify(name)[:50] or f"bank-{short_id(bank.pk)}"
    return bank


def _new_key(name: str) -> str:
    key = name_key(name)
    if key in ALIASES:
        raise BankNameTaken(f"“{name}” is another word for the bank Interests; choose another name.")
    if len(key) > KEY_MAX:  # a single character may stand for many, such as ﷺ
        raise Invalid(errors=[FieldError("/name", "string_too_long", "is too long when written out")])
    return key


def update_bank(access: Access, slug_or_id: str | UUID, changes: BankChanges) -> Bank:
    """Rename, describe, hide, or make it the default. Needs banks:admin. Raises BankNameTaken, DefaultBankStays,
    WholeVaultNeeded where a key that is limited to banks would change the vault's default.
    """
    access.require(KeyScope.BANKS_ADMIN)
    if changes.is_default:
        _require_all_banks(access)
    found = get_bank(access, slug_or_id)
    with _names_told_apart(), transaction.atomic():
        banks = _locked_banks(access.vault_id)
        bank = banks[found.pk]
        if changes.is_hidden and (bank.is_default or changes.is_default):
            raise DefaultBankStays
        values = _values(changes)
        if changes.is_default:
            for other in banks.values():
                if other.is_default and other.pk != bank.pk:
                    _save(other, is_default=False)
            values |= {"is_default": True, "is_hidden": False}
        _save(bank, **values)
        _refuse_ids(bank, banks)
        record_audit(access, Audited("update_bank", "bank", bank.pk))
    return bank


def _values(changes: BankChanges) -> dict[str, Any]:
    given = changes.model_dump(include={"name", "description", "is_hidden"}, exclude_none=True)
    return {**given, "name_key": _new_key(changes.name)} if changes.name is not None else given


def _save(bank: Bank, **values: Any) -> None:
    """Write these columns and no other, so that another caller's change of the rest stays."""
    bank.updated_at = now()
    for name, value in values.items():
        setattr(bank, name, value)
    bank.save(update_fields=[*values, "updated_at"])


def archive_bank(access: Access, slug_or_id: str | UUID) -> Bank:
    """Hide a bank: it takes no new memories by default and leaves the lists; its memories stay (BNK-02)."""
    return update_bank(access, slug_or_id, BankChanges(is_hidden=True))

"""API keys: issued, rotated with an overlap, revoked. The secret is shown once and never stored."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from django.db import transaction

from banks.access import Access, KeyScope
from banks.access.secret import digest_of, new_secret
from banks.models import ApiKey, Bank, KeyBank
from banks.services.agents import find_agent
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_banks
from banks.services.drafts import KeyDraft
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, Denied, FieldError, Invalid, NotFound
from memoryhub.lib.ids import parse_id

OVERLAP = dt.timedelta(hours=24)


class WiderThanCreator(Denied):
    """A key cannot be given more than its creator holds; leave out the scopes named in the answer."""

    code = "wider_than_creator"


class KeyNotLive(Conflict):
    """The key is revoked or expired already; issue a new one."""

    code = "key_not_live"


def list_keys(access: Access) -> list[ApiKey]:
    """The vault's keys, newest first, with agent and banks loaded. Needs keys:admin."""
    access.require(KeyScope.KEYS_ADMIN)
    return list(
        ApiKey.objects.filter(vault_id=access.vault_id)
        .select_related("agent")
        .prefetch_related("banks")
        .order_by("-created_at")
    )


def get_key(access: Access, key_id: str | UUID) -> ApiKey:
    """One key by id. Needs keys:admin. Raises NotFound."""
    access.require(KeyScope.KEYS_ADMIN)
    found = (
        ApiKey.objects.filter(vault_id=access.vault_id, pk=parse_id(key_id))
        .select_related("agent")
        .prefetch_related("banks")
        .first()
    )
    if found is None:
        raise NotFound("There is no such key in this vault.")
    return found


def create_key(access: Access, draft: KeyDraft) -> tuple[ApiKey, str]:
    """The key and its secret, this once. Needs keys:admin. Raises WiderThanCreator, UnknownBank, UnknownAgent."""
    access.require(KeyScope.KEYS_ADMIN)
    wider = sorted(set(draft.scopes) - access.scopes)
    if wider:
        raise WiderThanCreator(f"You do not hold {', '.join(wider)} yourself.", extra={"scopes": wider})
    if draft.expires_at is not None and draft.expires_at <= now():
        raise Invalid(
            "`expires_at` must be in the future.", errors=[FieldError("/expires_at", "past", "is not in the future")]
        )
    banks = _granted(access, draft)
    agent = find_agent(access, draft.agent) if draft.agent is not None else access.agent
    public_id, secret = new_secret()
    key = ApiKey(
        vault_id=access.vault_id,
        agent=agent,
        name=draft.name,
        public_id=public_id,
        digest=digest_of(secret),
        scopes=sorted(set(draft.scopes)),
        all_banks=banks is None,
        created_by_id=int(access.actor.id) if access.actor.kind == "user" else None,
        expires_at=draft.expires_at,
    )
    _issue(access, key, banks, "create_key")
    return key, secret


def _granted(access: Access, draft: KeyDraft) -> list[Bank] | None:
    """The banks to grant; None for all. A limited creator can only hand on what it has."""
    if draft.banks is not None:
        return find_banks(access, draft.banks)
    if access.bank_ids is None:
        return None
    return list(Bank.objects.filter(vault_id=access.vault_id, pk__in=access.bank_ids))


def _issue(access: Access, key: ApiKey, banks: list[Bank] | None, action: str) -> None:
    with transaction.atomic():
        key.save(force_insert=True)
        KeyBank.objects.bulk_create(
            [KeyBank(vault_id=access.vault_id, key=key, bank=bank) for bank in dict.fromkeys(banks or [])]
        )
        record_audit(access, Audited(action, "api_key", key.pk))


def rotate_key(access: Access, key_id: str | UUID, overlap: dt.timedelta = OVERLAP) -> tuple[ApiKey, str]:
    """A successor with the same rights, and its secret; the old key ends after ``overlap``.

    Needs keys:admin. Raises KeyNotLive, WiderThanCreator.
    """
    old = get_key(access, key_id)
    at = now()
    if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= at):
        raise KeyNotLive
    # The successor's secret goes to whoever asked, so it may not open more than he holds.
    banks = {bank.pk for bank in old.banks.all()}
    reaches = access.bank_ids is None or (not old.all_banks and banks <= access.bank_ids)
    if not set(old.scopes) <= access.scopes or not reaches:
        raise WiderThanCreator
    public_id, secret = new_secret()
    successor = ApiKey(
        vault_id=access.vault_id,
        agent=old.agent,
        name=old.name,
        public_id=public_id,
        digest=digest_of(secret),
        scopes=old.scopes,
        all_banks=old.all_banks,
        created_by_id=old.created_by_id,
        expires_at=old.expires_at,
        rotated_from=old,
    )
    with transaction.atomic():
        _issue(access, successor, list(old.banks.all()), "rotate_key")
        ends = at + overlap
        old.expires_at = min(old.expires_at, ends) if old.expires_at else ends
        old.save(update_fields=["expires_at"])
    return successor, secret


def revoke_key(access: Access, key_id: str | UUID) -> ApiKey:
    """End a key at once; revoking twice is fine. Needs keys:admin."""
    key = get_key(access, key_id)
    if key.revoked_at is None:
        key.revoked_at = now()
        with transaction.atomic():
            key.save(update_fields=["revoked_at"])
            record_audit(access, Audited("revoke_key", "api_key", key.pk))
    return key

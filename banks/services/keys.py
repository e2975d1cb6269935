"""API keys: issued, rotated with an overlap, revoked. The secret is shown once and never stored."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from banks.access import Access, KeyScope
from banks.access.secret import digest_of, new_secret
from banks.models import Agent, ApiKey, Bank, KeyBank
from banks.services.agents import TRUST_ORDER, UnknownAgent, find_agent
from banks.services.audit import Audited, record_audit
from banks.services.banks import find_banks
from banks.services.drafts import KeyDraft
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict, Denied, FieldError, Invalid, NotFound
from memoryhub.lib.ids import parse_id

OVERLAP = dt.timedelta(hours=24)


class WiderThanCreator(Denied):
    """A key cannot be given more than its creator holds; ask for fewer scopes or banks, or for your own agent."""

    code = "wider_than_creator"


class KeyNotLive(Conflict):
    """The key is revoked, expired or rotated already; issue a new one."""

    code = "key_not_live"


def list_keys(access: Access) -> list[ApiKey]:
    """The vault's keys, newest first, with agent and banks loaded. Needs keys:admin.

    For a key limited to banks, those that reach no bank it does not reach.
    """
    access.require(KeyScope.KEYS_ADMIN)
    return list(_visible(access).order_by("-created_at"))


def _visible(access: Access) -> QuerySet[ApiKey]:
    rows = ApiKey.objects.within(access.bank_ids).filter(vault_id=access.vault_id)
    return rows.select_related("agent").prefetch_related("banks")


def get_key(access: Access, key_id: str | UUID) -> ApiKey:
    """One key by id. Needs keys:admin. Raises NotFound."""
    access.require(KeyScope.KEYS_ADMIN)
    found = _visible(access).filter(pk=parse_id(key_id)).first()
    if found is None:
        raise NotFound("There is no such key in this vault.")
    return found


def create_key(access: Access, draft: KeyDraft) -> tuple[ApiKey, str]:
    """The key and its secret, this once. Needs keys:admin. Raises WiderThanCreator, UnknownBank, UnknownAgent."""
    access.require(KeyScope.KEYS_ADMIN)
    wider = sorted(set(draft.scopes) - access.scopes)
    if wider:
        raise WiderThanCreator(f"You do not hold {', '.join(wider)} yourself.", extra={"scopes": wider})
    expires_at, banks = _end_of(access, draft), _granted(access, draft)
    agent = find_agent(access, draft.agent) if draft.agent is not None else access.agent
    public_id, secret = new_secret()
    with transaction.atomic():
        agent = _locked_agent(access, agent)
        _refuse_freer_agent(access, agent)
        key = ApiKey(
            vault_id=access.vault_id,
            agent=agent,
            name=draft.name,
            public_id=public_id,
            digest=digest_of(secret),
            scopes=sorted(set(draft.scopes)),
            all_banks=banks is None,
            created_by_id=int(access.actor.id) if access.actor.kind == "user" else None,
            expires_at=expires_at,
        )
        _issue(access, key, banks, Audited("create_key", "api_key", key.pk, event="key.created"))
    return key, secret


def _locked_agent(access: Access, agent: Agent | None) -> Agent | None:
    """The agent as it is now, kept from being retired or freed until its key is written. Raises UnknownAgent."""
    if agent is None:
        return None
    found = Agent.objects.select_for_update().filter(vault_id=access.vault_id, retired_at=None, pk=agent.pk).first()
    if found is None:
        raise UnknownAgent(errors=[FieldError("/agent", "unknown_agent", "is not an agent of this vault")])
    return found


def _refuse_freer_agent(access: Access, agent: Agent | None) -> None:
    """Raises WiderThanCreator where a key of ``agent`` would see, or be trusted with, more than its maker's.

    The maker's own agent is never freer than itself; no agent at all is trusted as one that is fully verified.
    """
    own = access.agent
    if own is None or (agent is not None and agent.pk == own.pk):
        return
    if own.is_isolated:
        raise WiderThanCreator("Your agent is isolated; its keys can only make keys of the same agent.")
    ceiling = agent.trust_ceiling if agent is not None else TRUST_ORDER[-1]
    if TRUST_ORDER.index(ceiling) > TRUST_ORDER.index(own.trust_ceiling):
        raise WiderThanCreator("That key would be trusted more than your own agent is.")


def _end_of(access: Access, draft: KeyDraft) -> dt.datetime | None:
    """When the key ends: as was said, else with its maker's. Raises Invalid for the past, WiderThanCreator."""
    if draft.expires_at is not None and draft.expires_at <= now():
        raise Invalid(
            "`expires_at` must be in the future.", errors=[FieldError("/expires_at", "past", "is not in the future")]
        )
    maker = None
    if access.actor.kind == "key":
        maker = ApiKey.objects.filter(vault_id=access.vault_id, pk=access.actor.id).first()
    if maker is None or maker.expires_at is None:
        return draft.expires_at
    if draft.expires_at is not None and draft.expires_at > maker.expires_at:
        raise WiderThanCreator("That key would outlive your own; name an earlier `expires_at`, or none.")
    return draft.expires_at or maker.expires_at


def _granted(access: Access, draft: KeyDraft) -> list[Bank] | None:
    """The banks to grant; None for all. A limited creator can only hand on what it has."""
    if draft.banks is not None:
        return find_banks(access, draft.banks)  # names of other banks are unknown to a limited creator
    if access.bank_ids is None:
        return None
    return list(Bank.objects.filter(vault_id=access.vault_id, pk__in=access.bank_ids))


def _issue(access: Access, key: ApiKey, banks: list[Bank] | None, done: Audited) -> None:
    with transaction.atomic():
        key.save(force_insert=True)
        KeyBank.objects.bulk_create(
            [KeyBank(vault_id=access.vault_id, key=key, bank=bank) for bank in dict.fromkeys(banks or [])]
        )
        record_audit(access, done)


def rotate_key(access: Access, key_id: str | UUID, overlap: dt.timedelta = OVERLAP) -> tuple[ApiKey, str]:
    """A successor with the same rights, and its secret; the old key ends after ``overlap``.

    Needs keys:admin. Raises KeyNotLive, WiderThanCreator.
    """
    public_id, secret = new_secret()
    with transaction.atomic():
        old = _locked_key(access, key_id)
        banks = list(old.banks.all())
        at = now()
        _refuse_ended(old, at)
        _refuse_wider(access, old, banks)
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
        _issue(access, successor, banks, Audited("rotate_key", "api_key", successor.pk, event="key.rotated"))
        ends = at + overlap
        old.expires_at = min(old.expires_at, ends) if old.expires_at else ends
        old.save(update_fields=["expires_at"])
    return successor, secret


def _locked_key(access: Access, key_id: str | UUID) -> ApiKey:
    """The key as it is now, its agent and itself kept as they are until the transaction ends. Raises NotFound."""
    # The agent first, as in retiring one; a key never changes its agent.
    agent = _locked_agent_of(access, get_key(access, key_id))
    key = ApiKey.objects.select_for_update().get(vault_id=access.vault_id, pk=parse_id(key_id))
    key.agent = agent
    return key


def _locked_agent_of(access: Access, key: ApiKey) -> Agent | None:
    if key.agent_id is None:
        return None
    return Agent.objects.select_for_update().get(vault_id=access.vault_id, pk=key.agent_id)


def _refuse_ended(key: ApiKey, at: dt.datetime) -> None:
    """Raises KeyNotLive for a key that is revoked, expired, or has a successor that is not revoked."""
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= at):
        raise KeyNotLive
    if ApiKey.objects.filter(vault_id=key.vault_id, rotated_from=key, revoked_at=None).exists():
        raise KeyNotLive("The key has been rotated already; rotate its successor.")


def _refuse_wider(access: Access, key: ApiKey, banks: list[Bank]) -> None:
    """Raises WiderThanCreator: a successor's secret goes to whoever asked, so it may not open more than he holds."""
    if not set(key.scopes) <= access.scopes:
        raise WiderThanCreator
    if access.bank_ids is not None and (key.all_banks or not {bank.pk for bank in banks} <= access.bank_ids):
        raise WiderThanCreator
    _refuse_freer_agent(access, key.agent)


def revoke_key(access: Access, key_id: str | UUID) -> ApiKey:
    """End a key at once; revoking twice is fine, and its successors are keys of their own. Needs keys:admin."""
    key = get_key(access, key_id)
    with transaction.atomic():
        locked = ApiKey.objects.select_for_update().get(vault_id=access.vault_id, pk=key.pk)
        if locked.revoked_at is None:
            locked.revoked_at = now()
            locked.save(update_fields=["revoked_at"])
            record_audit(access, Audited("revoke_key", "api_key", key.pk, event="key.revoked"))
    key.revoked_at = locked.revoked_at
    return key

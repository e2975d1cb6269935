"""Receipts of erasures: signed with a key of the vault, kept, listed and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from banks.access import Access, Actor, KeyScope
from banks.models import AuditEntry
from memories.events import EventType
from memories.models import ErasureReceipt, Happened, Memory, record_events
from memories.rules.vocabulary import ErasureKind
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import keyed_hash, same
from memoryhub.lib.errors import NotFound
from memoryhub.lib.ids import parse_id

ERASED = "erase_memory"
#: Everything there was of somebody or of a conversation went.
_CLEARING = frozenset({ErasureKind.USER, ErasureKind.AGENT, ErasureKind.SESSION})


@dataclass(frozen=True, slots=True)
class Verification:
    """What a look at a receipt found. ``genuine``: the hub signed exactly this. ``still_there``: memories it says are
    gone and are not; never more than none, unless somebody put rows back.
    """

    receipt: ErasureReceipt
    genuine: bool
    still_there: int

    @property
    def holds(self) -> bool:
        """Whether the receipt is true."""
        return self.genuine and not self.still_there


def open_receipt(
    access: Access, kind: ErasureKind, target_id: UUID | None = None, subject: str | None = None
) -> ErasureReceipt:
    """A receipt to be filled, not saved yet; ``subject`` is forgotten when it is signed."""
    return ErasureReceipt(
        vault_id=access.vault_id,
        kind=kind.value,
        target_id=target_id,
        subject=subject,
        subject_hash=None if subject is None else subject_hash(access, kind, subject),
        actor_kind=access.actor.kind,
        actor_id=access.actor.id,
    )


def subject_hash(access: Access, kind: ErasureKind, name: str) -> bytes:
    """What a receipt keeps of a name: only who knows the name can compute it, and only here."""
    return keyed_hash(access.keys.audit, f"{kind.value}\0{name}".encode())


def count_removed(receipt: ErasureReceipt, removed: Mapping[str, int]) -> None:
    """Add to the receipt's counts; the caller saves it."""
    for thing, count in removed.items():
        receipt.removed[thing] = receipt.removed.get(thing, 0) + count


def sign_receipt(access: Access, receipt: ErasureReceipt) -> ErasureReceipt:
    """Close the receipt of an erasure in the transaction of its last step."""
    receipt.subject, receipt.finished_at = None, now()
    receipt.ids_digest = _digest(erased_ids(access, receipt))
    receipt.signature = _signature(access, receipt)
    receipt.save()
    if ErasureKind(receipt.kind) in _CLEARING:
        data = {"kind": receipt.kind}
        cleared = Happened(EventType.MEMORY_CLEARED, "erasure", receipt.pk, data, _asked_by(receipt), access.request_id)
        record_events(access.vault_id, cleared)
    return receipt


def _asked_by(receipt: ErasureReceipt) -> Actor:
    return Actor(receipt.actor_kind, receipt.actor_id, "")


def erased_ids(access: Access, receipt: ErasureReceipt, limit: int | None = None) -> list[UUID]:
    """The memories it took, in ascending order, from the audit."""
    taken = AuditEntry.objects.filter(vault_id=access.vault_id, changeset_id=receipt.pk, action=ERASED)
    return [UUID(str(one)) for one in taken.order_by("target_id").values_list("target_id", flat=True)[:limit]]


def _digest(ids: list[UUID]) -> bytes:
    return hashlib.sha256(b"".join(one.bytes for one in ids)).digest()


def _signature(access: Access, receipt: ErasureReceipt) -> bytes:
    said = {
        "receipt": str(receipt.pk),
        "vault": str(receipt.vault_id),
        "kind": receipt.kind,
        "target": str(receipt.target_id or ""),
        "subject": bytes(receipt.subject_hash or b"").hex(),
        "removed": receipt.removed,
        "ids": bytes(receipt.ids_digest or b"").hex(),
        "actor": f"{receipt.actor_kind} {receipt.actor_id}",
        "started": receipt.started_at.isoformat(),
        "finished": receipt.finished_at.isoformat() if receipt.finished_at else "",
    }
    return keyed_hash(access.keys.audit, b"erasure receipt 1\0" + json.dumps(said, sort_keys=True).encode())


def list_receipts(access: Access, limit: int = 100, before: UUID | None = None) -> list[ErasureReceipt]:
    """Receipts of the vault, the newest first, older than ``before`` when given; where the caller reaches a part, its
    own. Needs ops:read.
    """
    access.require(KeyScope.OPS_READ)
    rows = _visible(access)
    return list((rows if before is None else rows.filter(pk__lt=before)).order_by("-pk")[:limit])


def _visible(access: Access) -> QuerySet[ErasureReceipt]:
    rows = ErasureReceipt.objects.filter(vault_id=access.vault_id)
    if access.reaches_whole_vault:
        return rows
    return rows.filter(actor_kind=access.actor.kind, actor_id=access.actor.id)


def get_receipt(access: Access, receipt_id: str | UUID) -> ErasureReceipt:
    """One receipt. Needs ops:read. Raises NotFound."""
    access.require(KeyScope.OPS_READ)
    found = _visible(access).filter(pk=parse_id(receipt_id)).first()
    if found is None:
        raise NotFound("There is no such receipt in this vault.")
    return found


def verify_receipt(access: Access, receipt_id: str | UUID, signature: str | None = None) -> Verification:
    """Whether the receipt is the hub's own and what it says is still so; ``signature`` is that of a kept copy, in hex.

    Needs ops:read. Raises NotFound.
    """
    receipt = get_receipt(access, receipt_id)
    ids = erased_ids(access, receipt)
    stored = bytes(receipt.signature or b"")
    genuine = (
        receipt.finished_at is not None
        and same(stored, _signature(access, receipt))
        and same(bytes(receipt.ids_digest or b""), _digest(ids))
        and (signature is None or same(stored.hex().encode(), signature.strip().lower().encode()))
    )
    return Verification(receipt, genuine, Memory.objects.in_vault(access.vault_id).filter(pk__in=ids).count())

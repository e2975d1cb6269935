"""Shred a vault: its keys are destroyed first, then what was never sealed is deleted; a receipt stays."""

from __future__ import annotations

import json
from uuid import UUID

from django.apps import apps
from django.db import connection, transaction

from banks.access import Access
from banks.models import Membership, MembershipRole
from banks.services.shredding import destroy_data_keys, sign_for_hub
from memories.models import ErasureReceipt, VaultSpace
from memories.rules.vocabulary import ErasureKind
from memories.services.receipts import open_receipt
from memoryhub.lib.clock import now
from memoryhub.lib.errors import NotFound


def shred_vault(access: Access, typed_name: str) -> ErasureReceipt:
    """Make everything the vault ever held unreadable and delete it, vectors, token hashes and labels included.

    For its owners and operators. The name of the vault, its audit and its receipts stay. Raises OwnersOnly, Invalid.
    """
    receipt = open_receipt(access, ErasureKind.VAULT, access.vault_id)
    destroyed = destroy_data_keys(access, typed_name)
    receipt.removed = {"data_keys": destroyed, **_delete_remains(access.vault_id)}
    receipt.finished_at = now()
    receipt.signature = sign_for_hub(_said(receipt))
    receipt.save(force_insert=True)
    _overwrite_keys()
    return receipt


def find_shredding(person_id: int, receipt_id: UUID) -> ErasureReceipt:
    """The receipt of a shredded vault, for whoever owned it: no Access to it can be opened. Raises NotFound."""
    owned = Membership.objects.filter(
        user_id=person_id, user__is_active=True, role=MembershipRole.OWNER, vault__shredded_at__isnull=False
    )
    receipts = ErasureReceipt.objects.select_related("vault").filter(kind=ErasureKind.VAULT.value)
    found = receipts.filter(pk=receipt_id, vault__in=owned.values("vault")).first()
    if found is None:
        raise NotFound("There is no such receipt among yours.")
    return found


def holds_for_hub(receipt: ErasureReceipt) -> bool:
    """Whether this hub signed the receipt of a shredded vault; its own key is gone."""
    return receipt.signature is not None and bytes(receipt.signature) == sign_for_hub(_said(receipt))


def _said(receipt: ErasureReceipt) -> bytes:
    at = receipt.finished_at.isoformat() if receipt.finished_at else ""
    return json.dumps([str(receipt.vault_id), at, receipt.removed], sort_keys=True).encode()


def _delete_remains(vault_id: UUID) -> dict[str, int]:
    """Every row of the vault in every table of memories but its receipts; table → how many. In one transaction.

    Straight from the tables: a model that is added later is covered without anybody thinking of it.
    """
    removed = {}
    graphs = [f"graph_{pk.hex}" for pk in VaultSpace.objects.filter(vault_id=vault_id).values_list("pk", flat=True)]
    with transaction.atomic(), connection.cursor() as cursor:
        for model in apps.get_app_config("memories").get_models():
            columns = {field.column for field in model._meta.concrete_fields}
            if "vault_id" in columns and model is not ErasureReceipt:
                cursor.execute(f"DELETE FROM {model._meta.db_table} WHERE vault_id = %s", [vault_id])
                if cursor.rowcount:
                    removed[str(model._meta.verbose_name_plural)] = cursor.rowcount
        for graph in graphs:
            cursor.execute(f"DROP INDEX IF EXISTS {graph}")
    return removed


def _overwrite_keys() -> None:
    """Write the small table of wrapped keys anew, so that the deleted ones are not left in its file."""
    if not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (FULL) banks_vaultkey")

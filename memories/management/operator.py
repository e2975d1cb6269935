"""What commands that work inside a vault share: the vault by its name, opened for the hub itself."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from banks.access import Door, system_access
from banks.models import Vault
from memoryhub.lib.errors import NotFound

if TYPE_CHECKING:
    from banks.access import Access


def open_vault(name_or_id: str, request_id: str) -> Access:
    """The hub's own access to the vault with that name or id; call it inside `gate.session()`. Raises NotFound."""
    wanted = Q(name__iexact=name_or_id.strip())
    with contextlib.suppress(ValueError):
        wanted |= Q(pk=UUID(name_or_id.strip()))
    vault = Vault.objects.filter(wanted).first()
    if vault is None:
        known = ", ".join(Vault.objects.order_by("name").values_list("name", flat=True)) or "none yet"
        raise NotFound(f"There is no vault “{name_or_id}”. The vaults are: {known}.")
    return system_access(vault.pk, request_id, Door.COMMAND)


def only_vault() -> str:
    """The id of the vault, where there is only one. Raises NotFound naming them all where there are more, or none."""
    vaults = list(Vault.objects.order_by("name").values_list("pk", "name")[:20])
    if len(vaults) != 1:
        known = ", ".join(name for _, name in vaults) or "none yet"
        raise NotFound(f"Say which vault with --vault. The vaults are: {known}.")
    return str(vaults[0][0])

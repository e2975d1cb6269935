"""The hard boundary, its data keys and its members."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault


class Vault(models.Model):
    """Nothing ever crosses a vault: keys, limits, settings, members and memories are its own."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField(default=now)
    #: The next integer document number; handed out in an own short transaction, so gaps are normal.
    next_doc_no = models.IntegerField(default=0)
    #: Changes with every change of the vault's banks, settings or spaces (by trigger), so that what a process remembers
    #: of them is either right or not used.
    config_version = models.IntegerField(default=0)
    #: Its data keys were destroyed; nobody reads or writes it any more.
    shredded_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class VaultKey(models.Model):
    """A vault's data key, wrapped by a master key. Deleting the rows is crypto-shredding."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="data_keys", db_index=False
    )
    version = models.PositiveIntegerField(default=1)
    master_key_id = models.PositiveBigIntegerField()
    wrapped = models.BinaryField()
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("vault", "version")
        constraints = (
            owned_by_vault("vaultkey"),
            models.UniqueConstraint(fields=["vault", "version"], name="vaultkey_version"),
        )

    def __str__(self) -> str:
        return f"data key {self.version} under master key {self.master_key_id}"


class KeyCheck(models.Model):
    """What a master key must hash to; a wrong key is refused before it writes anything."""

    id = models.PositiveBigIntegerField(primary_key=True)
    value = models.BinaryField()
    created_at = models.DateTimeField(default=now)

    def __str__(self) -> str:
        return f"check of master key {self.pk}"


class MembershipRole(models.TextChoices):
    """What a person may do in a vault."""

    OWNER = "owner", "Owner"
    EDITOR = "editor", "Editor"
    VIEWER = "viewer", "Viewer"


class Membership(models.Model):
    """A person's place in a vault."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="memberships", db_index=False
    )
    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=MembershipRole, default=MembershipRole.VIEWER)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("vault", "created_at")
        constraints = (
            owned_by_vault("membership"),
            models.UniqueConstraint(fields=["vault", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=MembershipRole.values), name="membership_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} as {self.role}"

"""What changed: revisions, changesets, and the ledger of migrations."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memories.models.memory import Memory
from memories.rules.datamigrations import MigrationState
from memories.rules.vocabulary import ChangesetState, choices
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedJSONField, SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class Changeset(models.Model):
    """Everything one action changed; can be undone as one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="changesets", db_index=False
    )
    action = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=choices(ChangesetState), default=ChangesetState.APPLIED.value)
    #: How many memories it changed.
    count = models.PositiveIntegerField(default=0)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    reason = SealedTextField(null=True)
    created_at = models.DateTimeField(default=now)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (owned_by_vault("changeset"),)

    def __str__(self) -> str:
        return f"{self.action} ({self.state})"


class ChangesetItem(models.Model):
    """One memory in a changeset, with the versions around the change; 0 before means that it was created."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.CASCADE, related_name="items", db_constraint=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="+", db_constraint=False
    )
    version_before = models.PositiveIntegerField()
    version_after = models.PositiveIntegerField()
    undone_at = models.DateTimeField(null=True)
    #: Why the last undo left it as it is: a code, never words.
    refused = models.CharField(max_length=30, blank=True, default="")

    class Meta:
        constraints = (
            owned_by_vault("changesetitem"),
            VaultReference(field="changeset", to="memories.Changeset", name="changesetitem_changeset_same_vault"),
            VaultReference(field="memory", to="memories.Memory", name="changesetitem_memory_same_vault"),
            models.UniqueConstraint(fields=["changeset", "memory"], name="changesetitem_once"),
        )

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.changeset_id}"


class Revision(models.Model):
    """What a memory was before a change: who changed it, when and why (MIG-13). Creation is in the audit."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="revisions", db_constraint=False
    )
    #: The version these values had.
    version = models.PositiveIntegerField()
    before = SealedJSONField()
    #: Names of the fields the change touched.
    changed: models.JSONField[Any, Any] = models.JSONField(default=list)
    action = models.CharField(max_length=40)
    reason = SealedTextField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.SET_NULL, null=True, related_name="revisions", db_constraint=False
    )
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-version",)
        constraints = (
            owned_by_vault("revision"),
            VaultReference(field="memory", to="memories.Memory", name="revision_memory_same_vault"),
            VaultReference(field="changeset", to="memories.Changeset", name="revision_changeset_same_vault"),
            models.UniqueConstraint(fields=["memory", "version"], name="revision_once"),
        )

    def __str__(self) -> str:
        return f"version {self.version} of {self.memory_id}"


class MigrationRecord(models.Model):
    """The ledger of what changed the store: schema (mirrored from Django's migrations) and data (MIG-12).

    Schema belongs to no vault; data to one, with the kind of job as ``app`` and what it leads to as ``name``.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, null=True, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=10, choices=[("schema", "schema"), ("data", "data")])
    app = models.CharField(max_length=100)
    name = models.CharField(max_length=255)
    description = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=choices(MigrationState), default=MigrationState.RUNNING.value)
    rows_done = models.BigIntegerField(default=0)
    rows_total = models.BigIntegerField(null=True)
    error = models.CharField(max_length=500, blank=True)
    started_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True)
    duration_ms = models.FloatField(null=True)

    class Meta:
        ordering = ("-started_at", "-id")
        constraints = (
            owned_by_vault("migrationrecord"),
            models.UniqueConstraint(
                fields=["app", "name"], condition=models.Q(kind="schema"), name="migrationrecord_once"
            ),
            models.UniqueConstraint(
                fields=["vault", "app"],
                condition=models.Q(kind="data", state=MigrationState.RUNNING.value),
                name="migrationrecord_one_running",
            ),
        )

    def __str__(self) -> str:
        return f"{self.app} {self.name}"

"""An import of a vault's lines, and the lines themselves while they wait."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q, Value

from banks.models import Vault
from memories.models.history import Changeset
from memories.models.job import Job
from memories.rules.vocabulary import ImportState, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedJSONField, SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class VaultImport(models.Model):
    """One file on its way in: how it is to be read, how far it is, and what was found and made of it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="imports", db_index=False
    )
    state = models.CharField(max_length=10, choices=choices(ImportState), default=ImportState.RECEIVING.value)
    #: What the caller chose (``memories.rules.imports.ImportOptions``).
    options: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: For whom the job acts, and how far that caller reaches (``banks.access.mandate_of``).
    mandate: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: Whose file it is (``memories.rules.importers.kinds.ImportKind``), by what it is known when it comes again, and
    #: what became of its fields; names of fields only.
    kind = models.CharField(max_length=20, default="memoryhub", db_default="memoryhub")
    digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    mapping: models.JSONField[Any, Any] = models.JSONField(default=list, db_default=Value([], models.JSONField()))
    #: The vault the file was exported from.
    home = models.UUIDField(null=True)
    bytes = models.BigIntegerField(default=0)
    lines = models.PositiveIntegerField(default=0)
    chunks = models.PositiveIntegerField(default=0)
    #: Chunks checked and, later, imported.
    through = models.PositiveIntegerField(default=0)
    #: ``{"memory": {"new": 3, "same": 1, …}, …}`` of the check, and what the import made of it.
    found: models.JSONField[Any, Any] = models.JSONField(default=dict)
    made: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: The first lines that were not taken, with the reason of each; never what they say.
    refused = SealedJSONField(null=True)
    error = models.CharField(max_length=300, blank=True)
    job: models.ForeignKey[Any, Any] = models.ForeignKey(
        Job, models.SET_NULL, null=True, related_name="+", db_constraint=False, db_index=False
    )
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.SET_NULL, null=True, related_name="+", db_constraint=False, db_index=False
    )
    created_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            owned_by_vault("vaultimport"),
            VaultReference(field="job", to="memories.Job", name="vaultimport_job_same_vault"),
            VaultReference(field="changeset", to="memories.Changeset", name="vaultimport_changeset_same_vault"),
            models.CheckConstraint(condition=Q(state__in=words(ImportState)), name="vaultimport_state_known"),
        )

    def __str__(self) -> str:
        return f"import {self.pk} ({self.state})"


class ImportChunk(models.Model):
    """Some whole lines of a file, sealed until they are imported; then their text is gone."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    owner: models.ForeignKey[Any, Any] = models.ForeignKey(
        VaultImport, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    number = models.PositiveIntegerField()
    #: The number of its first line in the file, from 1.
    first_line = models.PositiveIntegerField()
    #: Empty once its lines are imported.
    body = SealedTextField(null=True)
    #: Which memories its lines are about: the ids they would have here, and the start of the keyed hash of what they
    #: say. An erasure looks here and opens nothing. Unknown for a file that nobody has read yet.
    names: ArrayField[Any, Any] = ArrayField(models.UUIDField(), null=True)
    #: Id a memory of the file would have → the memory that was there already.
    twins: models.JSONField[Any, Any] = models.JSONField(default=dict)

    class Meta:
        ordering = ("owner", "number")
        constraints = (
            owned_by_vault("importchunk"),
            VaultReference(field="owner", to="memories.VaultImport", name="importchunk_owner_same_vault"),
            models.UniqueConstraint(fields=["owner", "number"], name="importchunk_once"),
        )

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.owner_id}"

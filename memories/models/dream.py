"""The core document with every version it had, and the dreams that made them."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from banks.models import Vault
from memories.rules.limits import LABEL_MAX
from memories.rules.vocabulary import DreamState, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedJSONField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class CoreDocument(models.Model):
    """What a namespace holds on to; its text is that of its newest version (``MEMORY.md``)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    namespace = ArrayField(models.CharField(max_length=LABEL_MAX))
    #: The number of the newest version; 0 before the first.
    version = models.PositiveIntegerField(default=0)
    #: When somebody went back to an earlier version: what was noted before then is not dreamt of again.
    restored_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField(default=now)

    class Meta:
        constraints = (
            owned_by_vault("coredocument"),
            models.UniqueConstraint(fields=["vault", "namespace"], name="coredocument_once"),
        )

    def __str__(self) -> str:
        return f"core document {self.pk}"


class CoreVersion(models.Model):
    """The whole document as it was: a snapshot, never changed but by erasing (DEF-19)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    document: models.ForeignKey[Any, Any] = models.ForeignKey(
        CoreDocument, models.CASCADE, related_name="versions", db_constraint=False, db_index=False
    )
    number = models.PositiveIntegerField()
    #: The lines as ``memories.rules.coretext`` writes them, each with the memories it came from.
    lines = SealedJSONField(default=list)
    memory_ids = ArrayField(models.UUIDField(), default=list)
    #: The version somebody went back to; empty for what a dream made.
    restored_from = models.PositiveIntegerField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-number",)
        constraints = (
            owned_by_vault("coreversion"),
            VaultReference(field="document", to="memories.CoreDocument", name="coreversion_document_same_vault"),
            models.UniqueConstraint(fields=["document", "number"], name="coreversion_once"),
        )
        indexes = (GinIndex(fields=["memory_ids"], name="coreversion_memories"),)

    def __str__(self) -> str:
        return f"version {self.number} of {self.document_id}"


class Dream(models.Model):
    """One consolidation of notes into the core document, and its entry in the diary; in no index (TIE-07, TIE-19)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    namespace = ArrayField(models.CharField(max_length=LABEL_MAX))
    lookback_days = models.PositiveSmallIntegerField()
    is_scheduled = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=choices(DreamState), default=DreamState.WAITING.value)
    #: Why it changed nothing: a code.
    reason = models.CharField(max_length=40, blank=True)
    #: Whether a language model put the lines into words.
    by_model = models.BooleanField(default=False)
    #: Keyed hash of what was read and what came of it: the same again is nothing new.
    input_hash = models.BinaryField(null=True, editable=False)
    #: What was read, added, changed, dropped, left out: numbers.
    counts: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: What became of each line and why, with the memories it came from.
    diary = SealedJSONField(default=list)
    memory_ids = ArrayField(models.UUIDField(), default=list)
    version_before = models.PositiveIntegerField(null=True)
    version_after = models.PositiveIntegerField(null=True)
    #: The job that dreams it; a label, since jobs are forgotten.
    job_id = models.UUIDField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            owned_by_vault("dream"),
            models.CheckConstraint(condition=Q(state__in=words(DreamState)), name="dream_state_known"),
        )
        indexes = (
            models.Index(fields=["vault", "-created_at", "-id"], name="dream_newest"),
            GinIndex(fields=["memory_ids"], name="dream_memories"),
        )

    def __str__(self) -> str:
        return f"dream {self.pk} ({self.state})"

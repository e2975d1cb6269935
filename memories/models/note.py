"""The daily tier: what conversations left behind, one note for each namespace and day, a sealed line for each thing."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from banks.models import Vault
from memories.models.session import Session
from memories.rules.limits import LABEL_MAX
from memories.rules.vocabulary import NoteKind, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class DailyNote(models.Model):
    """One day of one namespace; ``memory/YYYY-MM-DD.md`` when it is written out (TIE-03, TIE-20)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    namespace = ArrayField(models.CharField(max_length=LABEL_MAX))
    date = models.DateField()
    line_count = models.PositiveIntegerField(default=0)
    #: What came after the note was full.
    left_out = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=now)
    updated_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-date",)
        constraints = (
            owned_by_vault("dailynote"),
            models.UniqueConstraint(fields=["vault", "namespace", "date"], name="dailynote_once"),
        )
        indexes = (models.Index(fields=["vault", "-date"], name="dailynote_newest"),)

    def __str__(self) -> str:
        return f"note of {self.date}"


class NoteLine(models.Model):
    """One thing that was noted, and the memories and the conversation it came from (law of erasure)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    note: models.ForeignKey[Any, Any] = models.ForeignKey(
        DailyNote, models.CASCADE, related_name="lines", db_constraint=False, db_index=False
    )
    session: models.ForeignKey[Any, Any] = models.ForeignKey(
        Session, models.CASCADE, null=True, related_name="+", db_constraint=False, db_index=False
    )
    kind = models.CharField(max_length=10, choices=choices(NoteKind))
    text = SealedTextField()
    memory_ids = ArrayField(models.UUIDField(), default=list)
    #: When it was said.
    at = models.DateTimeField(default=now)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("at", "id")
        constraints = (
            owned_by_vault("noteline"),
            VaultReference(field="note", to="memories.DailyNote", name="noteline_note_same_vault"),
            VaultReference(field="session", to="memories.Session", name="noteline_session_same_vault"),
            models.CheckConstraint(condition=Q(kind__in=words(NoteKind)), name="noteline_kind_known"),
        )
        indexes = (
            models.Index(fields=["note", "at", "id"], name="noteline_of_note"),
            models.Index(fields=["vault", "session"], condition=~Q(session=None), name="noteline_session"),
            GinIndex(fields=["memory_ids"], name="noteline_memories"),
        )

    def __str__(self) -> str:
        return f"line {self.pk} of {self.note_id}"

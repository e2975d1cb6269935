"""Questions to language models, and the guard that stops them. Ids, names and numbers; never what was said."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from banks.models import Vault
from memories.rules.vocabulary import CallResult, GuardedService, Purpose, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault


class ModelCall(models.Model):
    """One question to a language model, or why it was not asked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    purpose = models.CharField(max_length=20, choices=choices(Purpose))
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=200, blank=True)
    result = models.CharField(max_length=10, choices=choices(CallResult))
    #: Why it was skipped, or the code of what went wrong.
    reason = models.CharField(max_length=40, blank=True)
    #: The hub's own sentence about it; quotes neither question nor answer.
    detail = models.CharField(max_length=300, blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    took_ms = models.FloatField(default=0.0)
    #: What it was about: memories, sessions, candidates.
    subjects = ArrayField(models.UUIDField(), default=list)
    actor_id = models.CharField(max_length=40, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            owned_by_vault("modelcall"),
            models.CheckConstraint(condition=models.Q(purpose__in=words(Purpose)), name="modelcall_purpose_known"),
            models.CheckConstraint(condition=models.Q(result__in=words(CallResult)), name="modelcall_result_known"),
        )
        indexes = (
            models.Index(fields=["vault", "-created_at", "-id"], name="modelcall_newest"),
            # Erasing looks for the calls that were about something.
            GinIndex(fields=["subjects"], name="modelcall_subjects"),
        )

    def __str__(self) -> str:
        return f"{self.purpose} ({self.result})"


class CallGuard(models.Model):
    """What ``memories.rules.guard`` decides from, one row for each vault and service, shared by every process."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    service = models.CharField(max_length=20, choices=choices(GuardedService))
    errors = ArrayField(models.DateTimeField(), default=list)
    opened_at = models.DateTimeField(null=True)
    probing_since = models.DateTimeField(null=True)
    #: The hub's own sentence about the latest error.
    last_error = models.CharField(max_length=300, blank=True)
    changed_at = models.DateTimeField(default=now)

    class Meta:
        constraints = (
            owned_by_vault("callguard"),
            models.UniqueConstraint(fields=["vault", "service"], name="callguard_once"),
            models.CheckConstraint(
                condition=models.Q(service__in=words(GuardedService)), name="callguard_service_known"
            ),
        )

    def __str__(self) -> str:
        return f"guard of the {self.service}"

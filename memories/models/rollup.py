"""What happened, counted by the hour and the day: what the plots are drawn from. Numbers, words and ids of banks only.

A change leaves a tally in its own transaction: it is counted when it happened, and once, whatever is retried or
killed. The sweep adds tallies up into rows that a page can read quickly. Who reads adds both together.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memories.rules.vocabulary import GuardedService, choices
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault

WORD_MAX = 40


class Tally(models.Model):
    """So many of something at a moment, not yet added up. Only ever inserted and taken away.

    Triggers write most of them, for every row of a statement at once (migration 0022), so no way of changing a memory,
    a job or the ledger is forgotten. A bank is named and not referred to: its numbers stay when it goes.
    """

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    at = models.DateTimeField(default=now)
    metric = models.CharField(max_length=12)
    label = models.CharField(max_length=WORD_MAX, blank=True)
    cell = models.PositiveSmallIntegerField(default=0, db_default=0)
    bank_id = models.UUIDField(null=True)
    n = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "tallies"
        indexes = (models.Index(fields=["vault", "at"], name="tally_vault_at"),)

    def __str__(self) -> str:
        return f"{self.n} {self.metric} {self.label}"


class Rollup(models.Model):
    """All tallies of one kind in one hour, one day, or ever since. Hours are kept for 90 days."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    span = models.CharField(max_length=4)
    #: Where the span begins, UTC; 1970 for all of time.
    at = models.DateTimeField()
    metric = models.CharField(max_length=12)
    label = models.CharField(max_length=WORD_MAX, blank=True)
    cell = models.PositiveSmallIntegerField(default=0)
    bank_id = models.UUIDField(null=True)
    n = models.BigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["vault", "span", "at", "metric", "label", "cell", "bank_id"],
                nulls_distinct=False,
                name="rollup_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.n} {self.metric} {self.label} ({self.span})"


class GuardSpell(models.Model):
    """Once that an error guard was open: from the error that opened it to the call, or the person, that closed it.

    Written under the lock of the guard's own row. Until ``probes_at`` nothing is asked; then it is half open.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    service = models.CharField(max_length=20, choices=choices(GuardedService))
    opened_at = models.DateTimeField()
    probes_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    #: The hub's own sentence about the error that opened it.
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ("-opened_at",)
        constraints = (
            owned_by_vault("guardspell"),
            models.UniqueConstraint(
                fields=["vault", "service"], condition=models.Q(ended_at=None), name="guardspell_one_going"
            ),
        )
        indexes = (models.Index(fields=["vault", "-opened_at"], name="guardspell_newest"),)

    def __str__(self) -> str:
        return f"the {self.service}'s guard, open since {self.opened_at}"

"""Work to do later. This table is the truth; Celery is only the kick."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import models

from banks.models import Vault
from memories.rules.progress import Pace, Report, pace_of, seen_at
from memories.rules.vocabulary import JobState, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import owned_by_vault


class Job(models.Model):
    """Claimed with a lease, finished only by the attempt that claimed it. ``ref`` holds ids, never content."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="jobs", db_index=False)
    kind = models.CharField(max_length=40)
    ref: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: At most one waiting job per key, so that a burst of writes leaves one job.
    dedupe_key = models.CharField(max_length=200, null=True)
    state = models.CharField(max_length=10, choices=choices(JobState), default=JobState.PENDING.value)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=now)
    lease_until = models.DateTimeField(null=True)
    #: When it was last reported how far it is.
    heartbeat_at = models.DateTimeField(null=True)
    stage = models.CharField(max_length=80, blank=True)
    #: When this attempt first reported this stage, and how much of it was done then: speed is measured from there.
    stage_at = models.DateTimeField(null=True)
    stage_done = models.PositiveIntegerField(default=0, db_default=0)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            owned_by_vault("job"),
            models.UniqueConstraint(
                fields=["vault", "kind", "dedupe_key"],
                condition=models.Q(state=JobState.PENDING.value, dedupe_key__isnull=False),
                name="job_waits_once",
            ),
            models.CheckConstraint(condition=models.Q(state__in=words(JobState)), name="job_state_known"),
        )
        indexes = (
            models.Index(
                fields=["due_at"],
                condition=models.Q(state__in=[JobState.PENDING.value, JobState.RUNNING.value]),
                name="job_due",
            ),
            models.Index(fields=["vault", "-created_at"], name="job_newest"),
        )

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"

    @property
    def request_id(self) -> str:
        """The id under which everything it does is audited, logged and counted."""
        return f"job-{self.pk}"

    @property
    def seen_at(self) -> dt.datetime | None:
        """The last sign of life of whoever works on it, or did."""
        return seen_at(self.heartbeat_at, self.lease_until)

    @property
    def pace(self) -> Pace:
        """How fast it goes and how long it still takes; of one that ended, how fast its last stage went."""
        found = pace_of(Report(self.stage_at, self.stage_done, self.heartbeat_at, self.done, self.total), now())
        return found if self.state == JobState.RUNNING else Pace(found.rate)

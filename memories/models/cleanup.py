"""Clean-up plans: what a clean-up would archive, what people chose of it, and what became of that."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from banks.models import Vault
from memories.models.history import Changeset
from memories.models.job import Job
from memories.models.memory import Memory
from memories.rules.cleanup import CleanupRule
from memories.rules.cleanupclusters import KeptFor
from memories.rules.cleanupplans import PlanState
from memories.rules.vocabulary import choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault

REASON_LENGTH = 20


class CleanupPlan(models.Model):
    """A dry run that was kept. Its candidates never change; what is chosen of them does, and count and hash with it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    state = models.CharField(max_length=10, choices=choices(PlanState), default=PlanState.PLANNING.value)
    rules = ArrayField(models.CharField(max_length=REASON_LENGTH, choices=choices(CleanupRule)))
    query = SealedTextField(null=True)
    #: What the rules took for old and for unimportant: numbers by the names of the settings.
    thresholds: models.JSONField[Any, Any] = models.JSONField(default=dict)
    candidates = models.PositiveIntegerField(default=0)
    #: How many are chosen, by which rules, and the hash over them.
    count = models.PositiveIntegerField(default=0)
    by_reason: models.JSONField[Any, Any] = models.JSONField(default=dict)
    plan_hash = models.CharField(max_length=64, blank=True)
    #: Why chosen ones were left as they are: code → how many.
    skipped: models.JSONField[Any, Any] = models.JSONField(default=dict)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    job: models.ForeignKey[Any, Any] = models.ForeignKey(
        Job, models.SET_NULL, null=True, related_name="+", db_constraint=False, db_index=False
    )
    changeset: models.ForeignKey[Any, Any] = models.ForeignKey(
        Changeset, models.SET_NULL, null=True, related_name="+", db_constraint=False
    )
    created_at = models.DateTimeField(default=now)
    applied_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (
            owned_by_vault("cleanupplan"),
            VaultReference(field="job", to="memories.Job", name="cleanupplan_job_same_vault"),
            VaultReference(field="changeset", to="memories.Changeset", name="cleanupplan_changeset_same_vault"),
            models.CheckConstraint(condition=Q(state__in=words(PlanState)), name="cleanupplan_state_known"),
        )

    def __str__(self) -> str:
        return f"plan of {self.count} ({self.state})"

    @property
    def chosen(self) -> models.QuerySet[CleanupPlanItem]:
        """What would be archived: ticked, and not what its cluster keeps."""
        return CleanupPlanItem.objects.filter(plan=self, is_ticked=True, stays=False)


class CleanupCluster(models.Model):
    """Memories that say the same: which the plan would keep and why, and which is kept now."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    plan: models.ForeignKey[Any, Any] = models.ForeignKey(
        CleanupPlan, models.CASCADE, related_name="clusters", db_constraint=False
    )
    proposed: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.SET_NULL, null=True, related_name="+", db_constraint=False
    )
    why = models.CharField(max_length=12, choices=choices(KeptFor))
    #: The least similar of its members to the one proposed.
    similarity = models.FloatField()
    kept: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.SET_NULL, null=True, related_name="+", db_constraint=False
    )

    class Meta:
        ordering = ("id",)
        constraints = (
            owned_by_vault("cleanupcluster"),
            VaultReference(field="plan", to="memories.CleanupPlan", name="cleanupcluster_plan_same_vault"),
            VaultReference(field="proposed", to="memories.Memory", name="cleanupcluster_proposed_same_vault"),
            VaultReference(field="kept", to="memories.Memory", name="cleanupcluster_kept_same_vault"),
        )

    def __str__(self) -> str:
        return f"cluster around {self.kept_id}"


class CleanupPlanItem(models.Model):
    """A candidate at a version, with every reason; or the keeper of a cluster, which stays."""

    id = models.BigAutoField(primary_key=True)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    plan: models.ForeignKey[Any, Any] = models.ForeignKey(
        CleanupPlan, models.CASCADE, related_name="items", db_constraint=False, db_index=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="+", db_constraint=False
    )
    version = models.PositiveIntegerField()
    reasons = ArrayField(models.CharField(max_length=REASON_LENGTH, choices=choices(CleanupRule)), default=list)
    cluster: models.ForeignKey[Any, Any] = models.ForeignKey(
        CleanupCluster, models.CASCADE, null=True, related_name="items", db_constraint=False, db_index=False
    )
    similarity = models.FloatField(null=True)
    # What people chose, and what became of it; everything above stays as it was planned.
    is_ticked = models.BooleanField(default=True)
    #: It is what its cluster keeps now.
    stays = models.BooleanField(default=False)
    is_exempt = models.BooleanField(default=False)
    outcome = models.CharField(max_length=14, blank=True, default="")

    class Meta:
        constraints = (
            VaultReference(field="plan", to="memories.CleanupPlan", name="cleanupplanitem_plan_same_vault"),
            VaultReference(field="memory", to="memories.Memory", name="cleanupplanitem_memory_same_vault"),
            VaultReference(field="cluster", to="memories.CleanupCluster", name="cleanupplanitem_cluster_same_vault"),
            models.UniqueConstraint(fields=["plan", "memory"], name="cleanupplanitem_once"),
        )
        indexes = (
            models.Index(fields=["cluster"], condition=Q(cluster__isnull=False), name="cleanupplanitem_cluster"),
        )

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.plan_id}"


class CleanupExemption(models.Model):
    """“Never again”: a rule that does not name this memory in later plans."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    memory: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    rule = models.CharField(max_length=REASON_LENGTH, choices=choices(CleanupRule))
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        constraints = (
            owned_by_vault("cleanupexemption"),
            VaultReference(field="memory", to="memories.Memory", name="cleanupexemption_memory_same_vault"),
            models.UniqueConstraint(fields=["memory", "rule"], name="cleanupexemption_once"),
        )

    def __str__(self) -> str:
        return f"{self.memory_id}: not {self.rule}"

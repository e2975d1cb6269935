"""One thing remembered."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from banks.access import Access
from banks.models import Bank, Vault
from memories.rules.limits import ENTITY_MAX, LABEL_MAX, TAG_MAX
from memories.rules.vocabulary import (
    IndexState,
    MemoryCategory,
    MemoryType,
    Role,
    Scope,
    SourceKind,
    Status,
    Trust,
    choices,
    words,
)
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault

LIVE = Q(archived_at=None) & ~Q(status=Status.DISCARD.value)


def _label(**options: Any) -> models.CharField[Any, Any]:
    return models.CharField(max_length=LABEL_MAX, **options)


def _default_namespace() -> list[str]:
    return ["default"]


class MemoryQuerySet(models.QuerySet["Memory"]):
    """The rows a reader may mean."""

    def in_vault(self, vault_id: Any) -> MemoryQuerySet:
        """Rows of one vault."""
        return self.filter(vault_id=vault_id)

    def visible_to(self, access: Access) -> MemoryQuerySet:
        """Rows the caller may know of: own and shared ones of its banks; isolated, only its own (CON-25)."""
        rows = self.in_vault(access.vault_id)
        if access.bank_ids is not None:
            rows = rows.filter(bank_id__in=access.bank_ids)
        if access.agent is None:
            return rows
        own = Q(agent_id=access.agent_id)
        return rows.filter(own if access.agent.is_isolated else own | Q(scope=Scope.GLOBAL.value))

    def live(self) -> MemoryQuerySet:
        """Neither archived nor discarded."""
        return self.filter(LIVE)

    def recallable(self, at: dt.datetime) -> MemoryQuerySet:
        """What recall may return by default: accepted, not archived, not superseded, not expired (STA-09)."""
        return self.filter(
            Q(expires_at=None) | Q(expires_at__gt=at), status=Status.ACCEPTED, archived_at=None, superseded_by=None
        )


class Memory(models.Model):
    """Content is sealed; labels, ids and times are clear so that they can be filtered (ENC-02)."""

    #: False where it is known that no memory names this one as its successor.
    may_replace = True

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="memories", db_constraint=False, db_index=False
    )
    bank: models.ForeignKey[Any, Any] = models.ForeignKey(
        Bank, models.PROTECT, related_name="memories", db_constraint=False, db_index=False
    )
    doc_no = models.IntegerField(editable=False)
    content = SealedTextField()

    type = models.CharField(max_length=12, choices=choices(MemoryType), default=MemoryType.FACT.value)
    category = models.CharField(max_length=14, choices=choices(MemoryCategory), null=True)
    role = models.CharField(max_length=8, choices=choices(Role), null=True)
    status = models.CharField(max_length=10, choices=choices(Status), default=Status.ACCEPTED.value)
    importance = models.PositiveSmallIntegerField(default=3)
    confidence = models.PositiveSmallIntegerField(default=3)
    entities = ArrayField(models.CharField(max_length=ENTITY_MAX), default=list)
    tags = ArrayField(models.CharField(max_length=TAG_MAX), default=list)
    fact_key = _label(null=True)
    extra: models.JSONField[Any, Any] = models.JSONField(default=dict)
    is_protected = models.BooleanField(default=False)
    is_summarized = models.BooleanField(default=False)
    summarized_from = ArrayField(models.UUIDField(), default=list)

    namespace = ArrayField(models.CharField(max_length=LABEL_MAX), default=_default_namespace)
    scope = models.CharField(max_length=8, choices=choices(Scope), default=Scope.GLOBAL.value)
    user_id = _label(null=True)
    agent_id = _label(null=True)
    session_id = _label(null=True)
    task_id = _label(null=True)
    source_kind = models.CharField(max_length=16, choices=choices(SourceKind))
    trust = models.CharField(max_length=10, choices=choices(Trust))

    external_write_id = _label(null=True)
    #: Keyed hash of the normalised text; empty for rows written with dedup off.
    content_hash = models.BinaryField(null=True, editable=False)
    #: The agent a duplicate must share: set for scoped memories and for those of isolated agents.
    dedup_agent = _label(null=True, editable=False)
    version = models.PositiveIntegerField(default=1)
    index_state = models.CharField(max_length=8, choices=choices(IndexState), default=IndexState.PENDING.value)

    archived_at = models.DateTimeField(null=True)
    archived_reason = SealedTextField(null=True)
    superseded_by: models.ForeignKey[Any, Any] = models.ForeignKey(
        "self", models.SET_NULL, null=True, related_name="superseded", db_constraint=False, db_index=False
    )
    expires_at = models.DateTimeField(null=True)
    event_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=now)
    updated_at = models.DateTimeField(default=now)
    last_confirmed_at = models.DateTimeField(null=True)
    last_accessed_at = models.DateTimeField(null=True)
    access_count = models.PositiveIntegerField(default=0)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name_plural = "memories"
        constraints = (
            owned_by_vault("memory"),
            VaultReference(field="bank", to="banks.Bank", name="memory_bank_same_vault"),
            VaultReference(field="superseded_by", to="memories.Memory", name="memory_superseded_by_same_vault"),
            models.UniqueConstraint(fields=["vault", "doc_no"], name="memory_doc_no"),
            models.UniqueConstraint(
                fields=["vault", "external_write_id"],
                condition=Q(external_write_id__isnull=False),
                name="memory_external_write_id",
            ),
            # IDM-02, DUP-25, DEF-15: the database decides the race. A scoped memory competes within its agent only, and
            # any within its bank only: a wider bound would tell who reaches one bank what the others hold.
            models.UniqueConstraint(
                fields=["vault", "content_hash", "type", "user_id", "namespace", "scope", "dedup_agent", "bank"],
                condition=LIVE & Q(content_hash__isnull=False, superseded_by=None),
                nulls_distinct=False,
                name="memory_live_in_bank",
            ),
            models.CheckConstraint(condition=Q(importance__range=(1, 5)), name="memory_importance_1_to_5"),
            models.CheckConstraint(condition=Q(confidence__range=(1, 5)), name="memory_confidence_1_to_5"),
            models.CheckConstraint(condition=Q(type__in=words(MemoryType)), name="memory_type_known"),
            models.CheckConstraint(condition=Q(status__in=words(Status)), name="memory_status_known"),
            models.CheckConstraint(
                condition=Q(category=None) | Q(category__in=words(MemoryCategory)), name="memory_category_known"
            ),
            models.CheckConstraint(condition=Q(role=None) | Q(role__in=words(Role)), name="memory_role_known"),
            models.CheckConstraint(condition=Q(trust__in=words(Trust)), name="memory_trust_known"),
            models.CheckConstraint(condition=~Q(superseded_by=models.F("id")), name="memory_not_its_own_successor"),
        )
        indexes = (
            models.Index(fields=["vault", "-created_at", "-id"], name="memory_newest"),
            models.Index(fields=["vault", "bank", "-created_at"], name="memory_bank_newest"),
            # In the order of the conversation, so that a turn's neighbours are one step away in it.
            models.Index(
                "vault",
                "session_id",
                Coalesce("event_at", "created_at"),
                "doc_no",
                condition=Q(session_id__isnull=False),
                name="memory_session",
            ),
            models.Index(fields=["vault", "user_id"], condition=Q(user_id__isnull=False), name="memory_user"),
            # What the graph leg and the filter by entity look up; memories without any do not burden it.
            GinIndex(fields=["entities"], condition=~Q(entities=[]), name="memory_entities"),
            models.Index(fields=["vault", "superseded_by"], condition=~Q(superseded_by=None), name="memory_superseded"),
            models.Index(fields=["vault", "-created_at"], condition=Q(status="draft"), name="memory_drafts"),
            models.Index(fields=["vault", "fact_key"], condition=Q(fact_key__isnull=False), name="memory_fact_key"),
            # Counts subtract what has expired and is not put away.
            models.Index(
                fields=["vault", "expires_at"],
                condition=Q(expires_at__isnull=False, archived_at=None, superseded_by=None),
                name="memory_expiring",
            ),
            models.Index(
                fields=["vault", "id"], condition=Q(index_state__in=["pending", "failed"]), name="memory_not_indexed"
            ),
        )

    def __str__(self) -> str:
        return f"memory {self.pk}"

    @property
    def archived(self) -> bool:
        """Hidden from recall, reversible."""
        return self.archived_at is not None

    @property
    def etag(self) -> str:
        """The strong validator of this version."""
        return f'"v{self.version}"'

"""Who is told of events, and every telling."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from banks.models import Vault
from memories.rules.vocabulary import choices, words
from memories.rules.webhooks import DeliveryState, WebhookState
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class Webhook(models.Model):
    """One endpoint. Its address may hold a token, so it is sealed like its secrets."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(Vault, models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=100)
    url = SealedTextField()
    secret = SealedTextField()
    #: Signs beside the new one until then.
    old_secret = SealedTextField(null=True)
    old_until = models.DateTimeField(null=True)
    types: ArrayField[Any, Any] = ArrayField(models.CharField(max_length=40))
    #: Only events of these banks; None: all there are.
    banks: ArrayField[Any, Any] = ArrayField(models.UUIDField(), null=True)
    state = models.CharField(max_length=10, choices=choices(WebhookState), default=WebhookState.ACTIVE.value)
    #: Why the hub switched it off: a code.
    why = models.CharField(max_length=30, blank=True, default="")
    #: It leads to a private address, and whether an operator allowed that.
    is_private = models.BooleanField(default=False)
    private_allowed = models.BooleanField(default=False)
    #: In whose name it listens: never further than whoever made it.
    mandate: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: Everything up to this number of the stream has its deliveries.
    position = models.BigIntegerField()
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    rests_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("-created_at",)
        constraints = (
            owned_by_vault("webhook"),
            models.CheckConstraint(condition=models.Q(state__in=words(WebhookState)), name="webhook_state_known"),
        )

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """One event for one endpoint. What is sent is read from the stream each time: nothing of it is kept here."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    webhook: models.ForeignKey[Any, Any] = models.ForeignKey(
        Webhook, models.CASCADE, related_name="deliveries", db_constraint=False, db_index=False
    )
    #: Its number in the stream; None for a test.
    event_id = models.BigIntegerField(null=True)
    event = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=choices(DeliveryState), default=DeliveryState.WAITING.value)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=now)
    lease_until = models.DateTimeField(null=True)
    #: The last answer: its status, or a code of why there was none; how long it took; and its beginning.
    status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=40, blank=True, default="")
    took_ms = models.FloatField(null=True)
    answer = SealedTextField(null=True)
    created_at = models.DateTimeField(default=now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ("-id",)
        constraints = (
            owned_by_vault("delivery"),
            VaultReference(field="webhook", to="memories.Webhook", name="delivery_webhook_same_vault"),
            models.UniqueConstraint(fields=["webhook", "event_id"], name="delivery_once"),
            models.CheckConstraint(condition=models.Q(state__in=words(DeliveryState)), name="delivery_state_known"),
        )
        indexes = (
            models.Index(
                fields=["webhook", "due_at"],
                condition=models.Q(state=DeliveryState.WAITING.value),
                name="delivery_due",
            ),
            models.Index(fields=["webhook", "-id"], name="delivery_newest"),
        )

    def __str__(self) -> str:
        return f"{self.event} ({self.state})"

    @property
    def message_id(self) -> str:
        """The header ``webhook-id``, the same however often it is sent."""
        return f"msg_{self.pk.hex}"

"""The context tier: conversations and their turns."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from banks.access import Access
from banks.models import Vault
from memories.rules.limits import LABEL_MAX
from memories.rules.vocabulary import Role, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import SealedJSONField, SealedTextField
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


def _default_namespace() -> list[str]:
    return ["default"]


class SessionQuerySet(models.QuerySet["Session"]):
    """The conversations a caller may mean."""

    def visible_to(self, access: Access) -> SessionQuerySet:
        """Those of the vault; for an isolated agent, only its own (CON-25); for a key limited to banks, those in which
        nobody spoke who reaches others (BNK-02).
        """
        rows = self.filter(vault_id=access.vault_id)
        if access.bank_ids is not None:
            rows = rows.filter(bank_ids__contained_by=sorted(access.bank_ids))
        return rows.filter(private_to=access.agent_id) if access.agent and access.agent.is_isolated else rows


class Session(models.Model):
    """One conversation, known to its callers by a name of theirs; its running summary is sealed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="sessions", db_index=False
    )
    #: The caller's name of it, the ``sid`` of the addresses and the ``session_id`` of memories.
    sid = models.CharField(max_length=LABEL_MAX)
    #: The isolated agent whose name space the sid is in; empty for conversations of the whole vault.
    private_to = models.CharField(max_length=LABEL_MAX, null=True, editable=False)
    namespace = ArrayField(models.CharField(max_length=LABEL_MAX), default=_default_namespace)
    user_id = models.CharField(max_length=LABEL_MAX, null=True)
    agent_id = models.CharField(max_length=LABEL_MAX, null=True)
    task_id = models.CharField(max_length=LABEL_MAX, null=True)
    #: The banks every key that wrote here reaches; empty for all. What is extracted goes nowhere else.
    bank_ids = ArrayField(models.UUIDField(), null=True, editable=False)

    #: The number of the newest message; messages are numbered from 1.
    last_number = models.PositiveIntegerField(default=0)
    #: Up to this message everything was read for memories; moves only together with what was written.
    extracted_through = models.PositiveIntegerField(default=0)
    #: Up to this message everything is in the summary.
    summarized_through = models.PositiveIntegerField(default=0)
    summary = SealedTextField(null=True)
    #: What was found and left out, because it was doubtful or nothing to keep.
    facts_dropped = models.PositiveIntegerField(default=0)

    first_message_at = models.DateTimeField(null=True)
    last_message_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=now)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-last_message_at", "-id")
        constraints = (
            owned_by_vault("session"),
            models.UniqueConstraint(fields=["vault", "sid", "private_to"], nulls_distinct=False, name="session_once"),
        )
        indexes = (
            models.Index(fields=["vault", "-last_message_at", "-id"], name="session_newest"),
            models.Index(fields=["vault", "user_id"], condition=~Q(user_id=None), name="session_user"),
            models.Index(fields=["vault", "task_id"], condition=~Q(task_id=None), name="session_task"),
        )

    def __str__(self) -> str:
        return f"session {self.pk}"

    @property
    def unread(self) -> int:
        """How many messages were not read for memories yet."""
        return self.last_number - self.extracted_through


class Message(models.Model):
    """One turn; never changed after it was written."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    session: models.ForeignKey[Any, Any] = models.ForeignKey(
        Session, models.CASCADE, related_name="messages", db_constraint=False, db_index=False
    )
    number = models.PositiveIntegerField()
    #: The caller's id of the message, by which a repeated one is recognised.
    external_id = models.CharField(max_length=LABEL_MAX, null=True)
    #: The agent whose key sent it.
    agent_id = models.CharField(max_length=LABEL_MAX, null=True)
    role = models.CharField(max_length=8, choices=choices(Role))
    content = SealedTextField()
    #: ``[{"id", "name", "arguments"}]`` of an ai message that calls tools.
    tool_calls = SealedJSONField(null=True)
    #: The call a tool's result answers.
    tool_call_id = models.CharField(max_length=LABEL_MAX, null=True)
    tool_name = models.CharField(max_length=LABEL_MAX, null=True)
    is_error = models.BooleanField(default=False)
    tokens = models.PositiveIntegerField()
    #: It calls tools and says nothing.
    is_silent = models.BooleanField(default=False)
    #: Saved as it came in, by the shortcut for short preferences; extraction needs not read it again.
    is_saved = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("session", "number")
        constraints = (
            owned_by_vault("message"),
            VaultReference(field="session", to="memories.Session", name="message_session_same_vault"),
            models.UniqueConstraint(fields=["session", "number"], name="message_number_once"),
            models.UniqueConstraint(
                fields=["session", "external_id"], condition=~Q(external_id=None), name="message_external_id_once"
            ),
            models.CheckConstraint(condition=Q(role__in=words(Role)), name="message_role_known"),
        )
        indexes = (
            models.Index(fields=["session", "number"], condition=Q(role=Role.SYSTEM.value), name="message_system"),
        )

    def __str__(self) -> str:
        return f"message {self.number} of {self.session_id}"

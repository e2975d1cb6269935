"""Typed links between memories of one vault."""

from __future__ import annotations

from typing import Any

from django.db import models

from banks.models import Vault
from memories.models.memory import Memory
from memories.rules.vocabulary import Relation, choices, words
from memoryhub.lib.clock import now
from memoryhub.lib.ids import new_id
from memoryhub.lib.tenancy import VaultReference, owned_by_vault


class Link(models.Model):
    """``source`` stands in ``relation`` to ``target``; the new memory supersedes the old one (SUP-03, CON-23)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    vault: models.ForeignKey[Any, Any] = models.ForeignKey(
        Vault, models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    source: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="links_out", db_constraint=False
    )
    target: models.ForeignKey[Any, Any] = models.ForeignKey(
        Memory, models.CASCADE, related_name="links_in", db_constraint=False
    )
    relation = models.CharField(max_length=14, choices=choices(Relation))
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ("created_at",)
        constraints = (
            owned_by_vault("link"),
            VaultReference(field="source", to="memories.Memory", name="link_source_same_vault"),
            VaultReference(field="target", to="memories.Memory", name="link_target_same_vault"),
            models.UniqueConstraint(fields=["source", "target", "relation"], name="link_once"),
            models.CheckConstraint(condition=~models.Q(source=models.F("target")), name="link_not_to_itself"),
            models.CheckConstraint(condition=models.Q(relation__in=words(Relation)), name="link_relation_known"),
        )

    def __str__(self) -> str:
        return f"{self.source_id} {self.relation} {self.target_id}"

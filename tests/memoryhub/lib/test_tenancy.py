"""No row can point into another vault, whoever writes it: generated over every reference of every model."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from banks.models import Vault
from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft, KeyDraft
from banks.services.keys import create_key, rotate_key
from memories.jobs import JobKind
from memories.models import (
    BulkBatch,
    Changeset,
    ChangesetItem,
    CleanupCluster,
    CleanupExemption,
    CleanupPlan,
    CleanupPlanItem,
    ClusterSummary,
    CoreVersion,
    Delivery,
    DuplicatePair,
    Embedding,
    Event,
    ImportChunk,
    Job,
    Memory,
    MemoryAccess,
    MemoryIndex,
    Message,
    Revision,
    SavedView,
    VaultImport,
    Webhook,
)
from memories.rules.drafts import MemoryChanges
from memories.rules.vocabulary import AccessPurpose, PairKind, Relation
from memories.services.accesses import flush_accesses, record_accesses
from memories.services.editing import update_memory
from memories.services.jobs import enqueue_job
from memories.services.linking import create_link
from memoryhub.lib.tenancy import VaultReference
from tests.factories import converse, dreamt_of, make_vault, operator, remember, write


def our_models() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in {"banks", "memories"}]


def references() -> list[tuple[type[models.Model], VaultReference]]:
    return [
        (model, constraint)
        for model in our_models()
        for constraint in model._meta.constraints
        if isinstance(constraint, VaultReference)
    ]


def fill(name: str) -> Any:
    """A vault with at least one row in every table that refers to something."""
    vault = make_vault(name)
    access = operator(vault)
    agent = create_agent(
        access, AgentDraft.parse({"name": "scribe", "default_bank": "Work", "preferred_banks": ["Work"]})
    )
    key, _ = create_key(
        access, KeyDraft.parse({"name": "k", "scopes": ["ops:read"], "banks": ["Work"], "agent": "scribe"})
    )
    rotate_key(access, key.pk)
    first = remember(access, f"first of {name}")
    second = write(access, f"second of {name}", supersedes=str(first.pk)).memory
    create_link(access, second.pk, first.pk, Relation.REFINES)
    update_memory(access, second.pk, MemoryChanges.parse({"content": f"third of {name}"}))
    changeset = Changeset.objects.create(vault=vault, action="cleanup", actor_kind="system")
    ChangesetItem.objects.create(vault=vault, changeset=changeset, memory=second, version_before=1, version_after=2)
    Revision.objects.filter(vault=vault).update(changeset=changeset)
    DuplicatePair.objects.create(
        vault=vault, older=first, newer=second, similarity=0.9, kind=PairKind.NEAR, changeset=changeset
    )
    record_accesses(access, [first.pk], AccessPurpose.READ)
    flush_accesses()
    converse(access, "s", "Good morning.")
    dreamt_of(access, remember(access, f"The user of {name} builds bridges.", confidence=5))
    enqueue_job(vault.pk, JobKind.EMBED_MEMORIES)
    fill_operations(vault, second, changeset)
    assert agent.default_bank is not None
    return vault


def fill_operations(vault: Vault, memory: Memory, changeset: Changeset) -> None:
    """A row in every table of clean-ups, summaries, bulk changes and imports."""
    here: dict[str, Any] = {"vault": vault}
    own = sum(vault.name.encode())  # not the other vault's, or uniqueness would refuse before the reference does
    job = Job.objects.filter(vault=vault).latest("created_at")
    done = {"job": job, "changeset": changeset}
    plan = CleanupPlan.objects.create(**here, **done, rules=["query"], actor_kind="system")
    cluster = CleanupCluster.objects.create(
        **here, plan=plan, proposed=memory, kept=memory, why="newer", similarity=0.9
    )
    CleanupPlanItem.objects.create(**here, plan=plan, memory=memory, version=1, cluster=cluster)
    CleanupExemption.objects.create(**here, memory=memory, rule=f"{own}", actor_kind="system")
    Event.objects.create(**here, event="job.done", actor_kind="system", target_kind="job")
    hook = Webhook.objects.create(**here, name="x", url="https://x", secret="s", types=[], position=0)
    Delivery.objects.create(**here, webhook=hook, event="webhook.test")
    SavedView.objects.create(**here, owner="user:1", name="Mine", address="")
    BulkBatch.objects.create(**here, changeset=changeset, given={})
    brought = VaultImport.objects.create(**here, **done)
    ImportChunk.objects.create(**here, owner=brought, number=own, first_line=1)
    CoreVersion.objects.filter(vault=vault).update(number=own)
    summary = {"fingerprint": b"1", "strategy": "tags", "members": 3}
    ClusterSummary.objects.create(**here, memory=memory, changeset=changeset, **summary)


@pytest.mark.django_db
@pytest.mark.parametrize("model, reference", references(), ids=lambda item: getattr(item, "name", ""))
def test_no_child_points_into_another_vault(model, reference):
    """MOD-21, DESIGN law 8: raw SQL that re-points a row at the other vault's parent is refused by the database."""
    ours, theirs = fill("Ours"), fill("Theirs")
    for once_per_parent in (MemoryIndex, Embedding, Revision, MemoryAccess, Message, ClusterSummary):
        once_per_parent.objects.filter(vault=theirs).delete()
    table, column = model._meta.db_table, model._meta.get_field(reference.field).column
    target = apps.get_model(reference.to)._meta.db_table
    foreign = f"(SELECT id FROM {target} WHERE vault_id = %s LIMIT 1)"
    own = f"(SELECT min(ctid) FROM {table} WHERE vault_id = %s AND {column} IS NOT NULL)"
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match=reference.name), transaction.atomic():
            cursor.execute(
                f"UPDATE {table} SET {column} = {foreign} WHERE ctid = {own} RETURNING 1", [theirs.pk, ours.pk]
            )
            assert cursor.rowcount == 1, "the fixture has no such row, so this test would prove nothing"
        with pytest.raises(IntegrityError), transaction.atomic():
            cursor.execute(f"UPDATE {table} SET vault_id = %s WHERE ctid = {own}", [theirs.pk, ours.pk])


def test_every_reference_between_our_rows_is_held_by_the_database():
    """DESIGN law 8: a foreign key to a row of a vault without its constraint is a hole; none may be forgotten."""
    held = {(model, reference.field) for model, reference in references()}
    missing = []
    for model in our_models():
        for field in model._meta.concrete_fields:
            target = field.related_model
            if target is None or target not in our_models():
                continue
            in_vault = any(other.name == "vault" for other in target._meta.concrete_fields)
            if in_vault and (model, field.name) not in held:
                missing.append(f"{model.__name__}.{field.name}")
    assert missing == []


def test_every_table_can_be_pointed_at():
    """DESIGN law 8: UNIQUE (vault_id, id) wherever something refers to it."""
    for _, reference in references():
        target = apps.get_model(reference.to)
        pairs = [c.fields for c in target._meta.constraints if isinstance(c, models.UniqueConstraint)]
        assert ("vault", "id") in pairs, target


def test_the_constraint_comes_and_goes_with_migrations():
    """MIG-12: it survives deconstruction, is equal to itself and can be dropped."""
    model, reference = references()[0]
    _, args, kwargs = reference.deconstruct()
    again = VaultReference(*args, **kwargs)
    assert again == reference
    assert hash(again) == hash(reference)
    assert again != VaultReference(field=reference.field, to=reference.to, name="another")
    assert reference.name in str(reference.remove_sql(model, connection.schema_editor()))

"""The ledger of data migrations, a vault's own, and spaces that were left."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Data migrations belong to a vault; one of each kind runs at a time."""

    dependencies = [
        ("banks", "0003_agents_retire"),
        ("memories", "0013_cluster_summaries"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="migrationrecord",
            name="migrationrecord_once",
        ),
        migrations.AddField(
            model_name="migrationrecord",
            name="vault",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="banks.vault",
            ),
        ),
        migrations.AddField(
            model_name="vaultspace",
            name="retired_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="migrationrecord",
            name="state",
            field=models.CharField(
                choices=[("running", "running"), ("done", "done"), ("failed", "failed"), ("cancelled", "cancelled")],
                default="running",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="migrationrecord",
            constraint=models.UniqueConstraint(fields=("vault", "id"), name="migrationrecord_vault_id_id"),
        ),
        migrations.AddConstraint(
            model_name="migrationrecord",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "schema")), fields=("app", "name"), name="migrationrecord_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="migrationrecord",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "data"), ("state", "running")),
                fields=("vault", "app"),
                name="migrationrecord_one_running",
            ),
        ),
    ]

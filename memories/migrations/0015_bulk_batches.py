"""What bulk changes have still to do."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import memoryhub.lib.ids
import memoryhub.lib.sealing
import memoryhub.lib.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0003_agents_retire"),
        ("memories", "0014_data_migrations"),
    ]

    operations = [
        migrations.CreateModel(
            "BulkBatch",
            [
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("memory_ids", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list)),
                ("given", memoryhub.lib.sealing.SealedJSONField()),
                (
                    "changeset",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="batches",
                        to="memories.changeset",
                    ),
                ),
                (
                    "vault",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="banks.vault",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("vault", "id"), name="bulkbatch_vault_id_id"),
                    memoryhub.lib.tenancy.VaultReference(
                        field="changeset", name="bulkbatch_changeset_same_vault", to="memories.Changeset"
                    ),
                ],
            },
        ),
    ]

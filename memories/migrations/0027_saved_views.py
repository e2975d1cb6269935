"""Lists that people come back to."""

import django.db.models.deletion
from django.db import migrations, models

import memoryhub.lib.clock
import memoryhub.lib.ids
import memoryhub.lib.sealing


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0006_audit_events"),
        ("memories", "0026_webhooks"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("owner", models.CharField(max_length=60)),
                ("name", memoryhub.lib.sealing.SealedTextField()),
                ("address", memoryhub.lib.sealing.SealedTextField()),
                ("is_shared", models.BooleanField(default=False)),
                ("is_pinned", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=memoryhub.lib.clock.now)),
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
                "ordering": ("id",),
                "constraints": [models.UniqueConstraint(fields=("vault", "id"), name="savedview_vault_id_id")],
            },
        ),
    ]

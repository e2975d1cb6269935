"""Receipts of erasures."""

import django.db.models.deletion
from django.db import migrations, models

import memoryhub.lib.clock
import memoryhub.lib.ids
import memoryhub.lib.sealing


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0004_audit_changeset"),
        ("memories", "0016_tiers"),
    ]

    operations = [
        migrations.CreateModel(
            name="ErasureReceipt",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("memory", "memory"),
                            ("session", "session"),
                            ("user", "user"),
                            ("agent", "agent"),
                            ("retention", "retention"),
                        ],
                        max_length=9,
                    ),
                ),
                ("target_id", models.UUIDField(null=True)),
                ("subject", memoryhub.lib.sealing.SealedTextField(null=True)),
                ("subject_hash", models.BinaryField(null=True)),
                ("removed", models.JSONField(default=dict)),
                ("ids_digest", models.BinaryField(null=True)),
                (
                    "actor_kind",
                    models.CharField(choices=[("key", "key"), ("user", "user"), ("system", "system")], max_length=10),
                ),
                ("actor_id", models.CharField(blank=True, max_length=40)),
                ("started_at", models.DateTimeField(default=memoryhub.lib.clock.now)),
                ("finished_at", models.DateTimeField(null=True)),
                ("signature", models.BinaryField(null=True)),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="erasurereceipt",
            name="vault",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="banks.vault"
            ),
        ),
        migrations.AddConstraint(
            model_name="erasurereceipt",
            constraint=models.UniqueConstraint(fields=("vault", "id"), name="erasurereceipt_vault_id_id"),
        ),
        migrations.AddConstraint(
            model_name="erasurereceipt",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["memory", "session", "user", "agent", "retention"])),
                name="erasurereceipt_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="erasurereceipt",
            constraint=models.CheckConstraint(
                condition=models.Q(("finished_at", None), ("subject__isnull", True), _connector="OR"),
                name="erasurereceipt_names_nobody",
            ),
        ),
    ]

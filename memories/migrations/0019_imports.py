"""Imports of a vault, and their lines while they wait"""

import django.db.models.deletion
from django.db import migrations, models

import memoryhub.lib.clock
import memoryhub.lib.ids
import memoryhub.lib.sealing
import memoryhub.lib.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0004_audit_changeset"),
        ("memories", "0018_call_subjects"),
    ]

    operations = [
        migrations.CreateModel(
            name="VaultImport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("receiving", "receiving"),
                            ("checking", "checking"),
                            ("checked", "checked"),
                            ("importing", "importing"),
                            ("done", "done"),
                            ("failed", "failed"),
                        ],
                        default="receiving",
                        max_length=10,
                    ),
                ),
                ("options", models.JSONField(default=dict)),
                ("mandate", models.JSONField(default=dict)),
                ("home", models.UUIDField(null=True)),
                ("bytes", models.BigIntegerField(default=0)),
                ("lines", models.PositiveIntegerField(default=0)),
                ("chunks", models.PositiveIntegerField(default=0)),
                ("through", models.PositiveIntegerField(default=0)),
                ("found", models.JSONField(default=dict)),
                ("made", models.JSONField(default=dict)),
                ("refused", memoryhub.lib.sealing.SealedJSONField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(default=memoryhub.lib.clock.now)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "changeset",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="memories.changeset",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="memories.job",
                    ),
                ),
                (
                    "vault",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imports",
                        to="banks.vault",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="ImportChunk",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("first_line", models.PositiveIntegerField()),
                ("body", memoryhub.lib.sealing.SealedTextField(null=True)),
                ("twins", models.JSONField(default=dict)),
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
                (
                    "owner",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="memories.vaultimport",
                    ),
                ),
            ],
            options={
                "ordering": ("owner", "number"),
            },
        ),
        migrations.AddConstraint(
            model_name="vaultimport",
            constraint=models.UniqueConstraint(fields=("vault", "id"), name="vaultimport_vault_id_id"),
        ),
        migrations.AddConstraint(
            model_name="vaultimport",
            constraint=memoryhub.lib.tenancy.VaultReference(
                field="job", name="vaultimport_job_same_vault", to="memories.Job"
            ),
        ),
        migrations.AddConstraint(
            model_name="vaultimport",
            constraint=memoryhub.lib.tenancy.VaultReference(
                field="changeset", name="vaultimport_changeset_same_vault", to="memories.Changeset"
            ),
        ),
        migrations.AddConstraint(
            model_name="vaultimport",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["receiving", "checking", "checked", "importing", "done", "failed"])),
                name="vaultimport_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="importchunk",
            constraint=models.UniqueConstraint(fields=("vault", "id"), name="importchunk_vault_id_id"),
        ),
        migrations.AddConstraint(
            model_name="importchunk",
            constraint=memoryhub.lib.tenancy.VaultReference(
                field="owner", name="importchunk_owner_same_vault", to="memories.VaultImport"
            ),
        ),
        migrations.AddConstraint(
            model_name="importchunk",
            constraint=models.UniqueConstraint(fields=("owner", "number"), name="importchunk_once"),
        ),
    ]

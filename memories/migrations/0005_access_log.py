"""Who was given which memory, and room for counting it without touching the table's indexes."""

import django.db.models.deletion
from django.db import migrations, models

import memoryhub.lib.clock
import memoryhub.lib.ids
import memoryhub.lib.sealing
import memoryhub.lib.tenancy


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0003_agents_retire"),
        ("memories", "0004_model_calls"),
    ]

    operations = [
        migrations.CreateModel(
            name="Lookup",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[("search", "search"), ("context", "context"), ("read", "read")], max_length=8
                    ),
                ),
                (
                    "actor_kind",
                    models.CharField(choices=[("key", "key"), ("user", "user"), ("system", "system")], max_length=10),
                ),
                ("actor_id", models.CharField(blank=True, max_length=40)),
                ("agent_id", models.CharField(max_length=40, null=True)),
                ("query", memoryhub.lib.sealing.SealedTextField(null=True)),
                ("at", models.DateTimeField(default=memoryhub.lib.clock.now)),
                (
                    "vault",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="banks.vault"
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="MemoryAccess",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("rank", models.PositiveSmallIntegerField(null=True)),
                ("score", models.FloatField(null=True)),
                (
                    "lookup",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="accesses",
                        to="memories.lookup",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="accesses",
                        to="memories.memory",
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
                "verbose_name_plural": "memory accesses",
            },
        ),
        migrations.AddIndex(
            model_name="lookup",
            index=models.Index(fields=["vault", "at"], name="lookup_vault_at"),
        ),
        migrations.AddConstraint(
            model_name="lookup",
            constraint=models.UniqueConstraint(fields=("vault", "id"), name="lookup_vault_id_id"),
        ),
        migrations.AddConstraint(
            model_name="memoryaccess",
            constraint=memoryhub.lib.tenancy.VaultReference(
                field="memory", name="memoryaccess_memory_same_vault", to="memories.Memory"
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryaccess",
            constraint=memoryhub.lib.tenancy.VaultReference(
                field="lookup", name="memoryaccess_lookup_same_vault", to="memories.Lookup"
            ),
        ),
        migrations.AddConstraint(
            model_name="memoryaccess",
            constraint=models.UniqueConstraint(fields=("memory", "lookup"), name="memoryaccess_once"),
        ),
        # For new pages only; nothing is rewritten.
        migrations.RunSQL(
            "ALTER TABLE memories_memory SET (fillfactor = 90);",
            "ALTER TABLE memories_memory RESET (fillfactor);",
        ),
    ]

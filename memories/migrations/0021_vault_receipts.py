"""A receipt may be that of a whole vault."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0005_shredded_vaults"),
        ("memories", "0020_cleanup_plans"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="erasurereceipt",
            name="erasurereceipt_kind_known",
        ),
        migrations.AlterField(
            model_name="erasurereceipt",
            name="kind",
            field=models.CharField(
                choices=[
                    ("memory", "memory"),
                    ("session", "session"),
                    ("user", "user"),
                    ("agent", "agent"),
                    ("retention", "retention"),
                    ("vault", "vault"),
                ],
                max_length=9,
            ),
        ),
        migrations.AddConstraint(
            model_name="erasurereceipt",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["memory", "session", "user", "agent", "retention", "vault"])),
                name="erasurereceipt_kind_known",
            ),
        ),
    ]

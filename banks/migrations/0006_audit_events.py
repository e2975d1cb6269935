"""The audit says what listeners are told of a change. Adding both columns rewrites nothing."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("banks", "0005_shredded_vaults")]
    operations = [
        migrations.AddField("auditentry", "bank_id", models.UUIDField(null=True)),
        migrations.AddField(
            "auditentry", "event", models.CharField(blank=True, db_default="", default="", max_length=40)
        ),
    ]

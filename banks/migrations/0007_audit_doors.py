"""The audit says through which door a change came, and which bank a memory left. Adding both columns rewrites nothing."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("banks", "0006_audit_events")]
    operations = [
        migrations.AddField("auditentry", "left_bank_id", models.UUIDField(null=True)),
        migrations.AddField(
            "auditentry", "door", models.CharField(blank=True, db_default="", default="", max_length=8)
        ),
    ]

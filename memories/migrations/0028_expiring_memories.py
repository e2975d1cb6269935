from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Find what has expired and is not put away: the counts say so. Built beside writes; runs outside a transaction."""

    atomic = False

    dependencies = [
        ("banks", "0006_audit_events"),
        ("memories", "0027_saved_views"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                fields=["vault", "expires_at"],
                condition=models.Q(("archived_at", None), ("expires_at__isnull", False), ("superseded_by", None)),
                name="memory_expiring",
            ),
        ),
    ]

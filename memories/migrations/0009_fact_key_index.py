"""What has a fact key is found by it, built beside running writes: a newer statement looks for the one it replaces."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0008_drafts_index")]
    operations = [
        AddIndexConcurrently(
            "memory",
            models.Index(
                fields=["vault", "fact_key"], condition=models.Q(("fact_key__isnull", False)), name="memory_fact_key"
            ),
        ),
    ]

"""An index of the drafts alone, built beside running writes: the review queue's count is on every page."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0007_sessions")]
    operations = [
        AddIndexConcurrently(
            "memory",
            models.Index(
                fields=["vault", "-created_at"], condition=models.Q(("status", "draft")), name="memory_drafts"
            ),
        ),
    ]

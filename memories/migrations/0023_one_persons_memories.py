from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Find one person's memories among many: the filter by user. Built beside writes; runs outside a transaction."""

    atomic = False

    dependencies = [
        ("banks", "0005_shredded_vaults"),
        ("memories", "0022_rollups"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="memory",
            index=models.Index(
                fields=["vault", "user_id"], condition=models.Q(("user_id__isnull", False)), name="memory_user"
            ),
        ),
    ]

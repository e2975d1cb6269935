"""What happened together in a changeset or an erasure is found at once; built beside running writes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("banks", "0003_agents_retire")]
    operations = [
        AddIndexConcurrently(
            "auditentry",
            models.Index(
                fields=["vault", "changeset_id"],
                condition=models.Q(("changeset_id", None), _negated=True),
                name="audit_changeset",
            ),
        ),
    ]

"""A vault whose keys were destroyed says so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("banks", "0004_audit_changeset")]
    operations = [migrations.AddField("vault", "shredded_at", models.DateTimeField(null=True))]

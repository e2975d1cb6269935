import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    """An erasure finds the files that wait and name a memory without opening them."""

    dependencies = [
        ("memories", "0028_expiring_memories"),
    ]

    operations = [
        migrations.AddField(
            model_name="importchunk",
            name="names",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None),
        ),
    ]

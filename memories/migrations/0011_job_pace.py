"""Where the speed of a job is measured from."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0010_schedules")]

    operations = [
        migrations.AddField("job", "stage_at", models.DateTimeField(null=True)),
        migrations.AddField("job", "stage_done", models.PositiveIntegerField(db_default=0, default=0)),
    ]

"""Calls of a model are found by what they were about, so that erasing it finds them; built beside running writes."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0017_erasure_receipts")]
    operations = [
        AddIndexConcurrently(
            "modelcall",
            django.contrib.postgres.indexes.GinIndex(fields=["subjects"], name="modelcall_subjects"),
        ),
    ]

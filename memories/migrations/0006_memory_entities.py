"""An index of entities, built beside the running hub."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.models import Q


class Migration(migrations.Migration):
    """What is about the same people and things is looked up, not searched for."""

    atomic = False
    dependencies = (("memories", "0005_access_log"),)
    operations = (
        AddIndexConcurrently(
            "memory", GinIndex(fields=["entities"], condition=~Q(entities=[]), name="memory_entities")
        ),
    )

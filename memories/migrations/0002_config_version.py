"""The same trigger for a vault's embedding spaces."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    """What a process remembers of a vault's embedding space is right or not used."""

    dependencies = (("memories", "0001_initial"), ("banks", "0002_config_version"))
    operations = (
        migrations.RunSQL(
            "CREATE TRIGGER config_changed AFTER INSERT OR UPDATE OR DELETE ON memories_vaultspace"
            " FOR EACH ROW EXECUTE FUNCTION memoryhub_config_changed();",
            migrations.RunSQL.noop,
        ),
    )

from django.db import migrations, models

# What a build that was killed left behind is in nobody's way.
_CLEAR = "DROP INDEX CONCURRENTLY IF EXISTS memory_live_in_bank"
_BUILD = """
    CREATE UNIQUE INDEX CONCURRENTLY memory_live_in_bank ON memories_memory
        (vault_id, content_hash, type, user_id, namespace, scope, dedup_agent, bank_id) NULLS NOT DISTINCT
    WHERE archived_at IS NULL AND NOT (status = 'discard') AND content_hash IS NOT NULL AND superseded_by_id IS NULL
"""
_DROP = "DROP INDEX CONCURRENTLY IF EXISTS memory_live_content"


class Migration(migrations.Migration):
    """Equal texts compete within their bank: what a key does not reach refuses nothing it writes. Built beside writes."""

    atomic = False

    dependencies = [
        ("banks", "0007_audit_doors"),
        ("memories", "0029_staged_names"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(_CLEAR),
                migrations.RunSQL(_BUILD),
                migrations.RunSQL(_DROP),
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="memory", name="memory_live_content"),
                migrations.AddConstraint(
                    model_name="memory",
                    constraint=models.UniqueConstraint(
                        fields=[
                            *("vault", "content_hash", "type", "user_id", "namespace", "scope", "dedup_agent"),
                            "bank",
                        ],
                        condition=models.Q(
                            ("archived_at", None),
                            models.Q(("status", "discard"), _negated=True),
                            ("content_hash__isnull", False),
                            ("superseded_by", None),
                        ),
                        nulls_distinct=False,
                        name="memory_live_in_bank",
                    ),
                ),
            ],
        ),
    ]

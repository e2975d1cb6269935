"""Counts by the hour and the day, and the triggers that keep them, whoever changes a row."""

import django.db.models.deletion
from django.db import migrations, models

import memoryhub.lib.clock
import memoryhub.lib.ids

STANDS = """
CREATE FUNCTION memoryhub_stands(status text, archived_at timestamptz, superseded_by uuid) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN status = 'discard' THEN 'discarded' WHEN superseded_by IS NOT NULL THEN 'superseded'
        WHEN archived_at IS NOT NULL THEN 'archived' WHEN status = 'draft' THEN 'draft' ELSE 'active' END
$$;
"""
#: A memory that comes in archived, as imported ones do, was active between its creation and that.
MEMORY_CAME = """
CREATE FUNCTION memoryhub_memories_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_tally (vault_id, at, metric, label, bank_id, n)
    SELECT one.vault_id, date_trunc('hour', event.at, 'UTC'), event.metric, event.label, one.bank_id, sum(event.n)
    FROM fresh AS one
    CROSS JOIN LATERAL (SELECT memoryhub_stands(one.status, one.archived_at, one.superseded_by_id) AS stands,
        one.archived_at > one.created_at AS later) AS now
    CROSS JOIN LATERAL (VALUES
        (one.created_at, 'created', now.stands, 1),
        (coalesce(one.event_at, one.created_at), 'mentioned', now.stands, 1),
        (one.created_at, 'standing', CASE WHEN now.later THEN 'active' ELSE now.stands END, 1),
        (one.archived_at, 'standing', 'active', CASE WHEN now.later THEN -1 END),
        (one.archived_at, 'standing', now.stands, CASE WHEN now.later THEN 1 END)) AS event (at, metric, label, n)
    WHERE event.n IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5;
    RETURN NULL;
END $$;
CREATE TRIGGER tally_came AFTER INSERT ON memories_memory REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_memories_came();
"""
MEMORY_MOVED = """
CREATE FUNCTION memoryhub_memory_moved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was text := memoryhub_stands(OLD.status, OLD.archived_at, OLD.superseded_by_id);
    is_now text := memoryhub_stands(NEW.status, NEW.archived_at, NEW.superseded_by_id);
    said_before timestamptz := date_trunc('hour', coalesce(OLD.event_at, OLD.created_at), 'UTC');
    said_now timestamptz := date_trunc('hour', coalesce(NEW.event_at, NEW.created_at), 'UTC');
BEGIN
    IF was = is_now AND OLD.bank_id = NEW.bank_id AND said_before = said_now THEN
        RETURN NULL;
    END IF;
    INSERT INTO memories_tally (vault_id, at, metric, label, bank_id, n) VALUES
        (NEW.vault_id, said_before, 'mentioned', was, OLD.bank_id, -1),
        (NEW.vault_id, said_now, 'mentioned', is_now, NEW.bank_id, 1);
    IF was <> is_now OR OLD.bank_id <> NEW.bank_id THEN
        INSERT INTO memories_tally (vault_id, at, metric, label, bank_id, n) VALUES
            (NEW.vault_id, date_trunc('hour', OLD.created_at, 'UTC'), 'created', was, OLD.bank_id, -1),
            (NEW.vault_id, date_trunc('hour', OLD.created_at, 'UTC'), 'created', is_now, NEW.bank_id, 1),
            (NEW.vault_id, date_trunc('hour', now(), 'UTC'), 'standing', was, OLD.bank_id, -1),
            (NEW.vault_id, date_trunc('hour', now(), 'UTC'), 'standing', is_now, NEW.bank_id, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tally_moved AFTER UPDATE OF status, archived_at, superseded_by_id, bank_id, event_at ON memories_memory
    FOR EACH ROW EXECUTE FUNCTION memoryhub_memory_moved();
"""
MEMORY_WENT = """
CREATE FUNCTION memoryhub_memories_went() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_tally (vault_id, at, metric, label, bank_id, n)
    SELECT one.vault_id, date_trunc('hour', event.at, 'UTC'), event.metric, event.label, one.bank_id, sum(event.n)
    FROM gone AS one
    CROSS JOIN LATERAL (SELECT memoryhub_stands(one.status, one.archived_at, one.superseded_by_id) AS stood) AS was
    CROSS JOIN LATERAL (VALUES
        (one.created_at, 'created', was.stood, -1),
        (one.created_at, 'created', 'erased', 1),
        (coalesce(one.event_at, one.created_at), 'mentioned', was.stood, -1),
        (coalesce(one.event_at, one.created_at), 'mentioned', 'erased', 1),
        (now(), 'standing', was.stood, -1)) AS event (at, metric, label, n)
    GROUP BY 1, 2, 3, 4, 5;
    RETURN NULL;
END $$;
CREATE TRIGGER tally_went AFTER DELETE ON memories_memory REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_memories_went();
"""
JOBS = """
CREATE FUNCTION memoryhub_jobs_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_tally (vault_id, at, metric, label, n)
    SELECT vault_id, date_trunc('hour', created_at, 'UTC'), 'waiting', state, count(*)
    FROM fresh WHERE state IN ('pending', 'running') GROUP BY 1, 2, 4;
    RETURN NULL;
END $$;
CREATE FUNCTION memoryhub_job_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_tally (vault_id, at, metric, label, n)
    SELECT NEW.vault_id, date_trunc('hour', now(), 'UTC'), metric, label, n FROM (VALUES
        ('waiting', OLD.state, CASE WHEN OLD.state IN ('pending', 'running') THEN -1 END),
        ('waiting', NEW.state, CASE WHEN NEW.state IN ('pending', 'running') THEN 1 END),
        ('ended', NEW.state, CASE WHEN NEW.state IN ('done', 'dead', 'cancelled') THEN 1 END),
        ('ended', 'put_back', CASE WHEN OLD.state = 'running' AND NEW.state = 'pending' THEN 1 END)
    ) AS event (metric, label, n) WHERE n IS NOT NULL;
    RETURN NULL;
END $$;
CREATE FUNCTION memoryhub_jobs_went() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_tally (vault_id, at, metric, label, n)
    SELECT vault_id, date_trunc('hour', now(), 'UTC'), 'waiting', state, -count(*)
    FROM gone WHERE state IN ('pending', 'running') GROUP BY 1, 2, 4;
    RETURN NULL;
END $$;
CREATE TRIGGER tally_came AFTER INSERT ON memories_job REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_jobs_came();
CREATE TRIGGER tally_moved AFTER UPDATE OF state ON memories_job
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION memoryhub_job_moved();
CREATE TRIGGER tally_went AFTER DELETE ON memories_job REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_jobs_went();
"""
CALLS = """
CREATE FUNCTION memoryhub_calls_came() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO memories_tally (vault_id, at, metric, label, n)
    SELECT one.vault_id, date_trunc('hour', one.created_at, 'UTC'), event.metric, event.label, sum(event.n)
    FROM fresh AS one CROSS JOIN LATERAL (VALUES
        (CASE WHEN one.result = 'skipped' THEN 'skipped' ELSE 'called' END,
         CASE WHEN one.result = 'skipped' THEN one.reason ELSE one.result END, 1),
        ('tokens', 'in', one.tokens_in),
        ('tokens', 'out', one.tokens_out)) AS event (metric, label, n)
    WHERE event.n > 0 GROUP BY 1, 2, 3, 4;
    RETURN NULL;
END $$;
CREATE TRIGGER tally_came AFTER INSERT ON memories_modelcall REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION memoryhub_calls_came();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("banks", "0005_shredded_vaults"),
        ("memories", "0021_vault_receipts"),
    ]

    operations = [
        migrations.CreateModel(
            name="GuardSpell",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.lib.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("service", models.CharField(choices=[("chat", "chat"), ("embedder", "embedder")], max_length=20)),
                ("opened_at", models.DateTimeField()),
                ("probes_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("error", models.CharField(blank=True, max_length=300)),
                (
                    "vault",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="banks.vault"
                    ),
                ),
            ],
            options={
                "ordering": ("-opened_at",),
                "indexes": [models.Index(fields=["vault", "-opened_at"], name="guardspell_newest")],
                "constraints": [
                    models.UniqueConstraint(fields=("vault", "id"), name="guardspell_vault_id_id"),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)), fields=("vault", "service"), name="guardspell_one_going"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rollup",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("span", models.CharField(max_length=4)),
                ("at", models.DateTimeField()),
                ("metric", models.CharField(max_length=12)),
                ("label", models.CharField(blank=True, max_length=40)),
                ("cell", models.PositiveSmallIntegerField(default=0)),
                ("bank_id", models.UUIDField(null=True)),
                ("n", models.BigIntegerField()),
                (
                    "vault",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="banks.vault",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("vault", "span", "at", "metric", "label", "cell", "bank_id"),
                        name="rollup_once",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Tally",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=memoryhub.lib.clock.now)),
                ("metric", models.CharField(max_length=12)),
                ("label", models.CharField(blank=True, max_length=40)),
                ("cell", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("bank_id", models.UUIDField(null=True)),
                ("n", models.BigIntegerField()),
                (
                    "vault",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="banks.vault",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "tallies",
                "indexes": [models.Index(fields=["vault", "at"], name="tally_vault_at")],
            },
        ),
        *(
            migrations.RunSQL(each, migrations.RunSQL.noop)
            for each in (STANDS, MEMORY_CAME, MEMORY_MOVED, MEMORY_WENT, JOBS, CALLS)
        ),
    ]

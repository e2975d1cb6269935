"""``manage.py migrate``: every step is in the ledger with its time; late ones are not skipped, failed ones not kept."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from memories.models import MigrationRecord
from memories.services.ledger import AppliedMigration, record_migrations

DATABASE = "test_migrations"
OURS = {"memories", "banks"}
STEP = '''
from django.db import migrations

class Migration(migrations.Migration):
    """{about}"""
    dependencies = {needs}
    operations = [migrations.RunSQL("{statement}")]
'''


class Hub:
    """A database of its own, migrated by processes of its own, with one more app whose steps a test writes."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url, self.folder = url, folder
        self.steps = folder / "late" / "migrations"
        self.steps.mkdir(parents=True)
        (folder / "late" / "__init__.py").touch()
        (self.steps / "__init__.py").touch()
        (folder / "latesettings.py").write_text(
            "from memoryhub.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'late']\n"
        )

    def step(self, name: str, statement: str, *needs: str) -> None:
        """Write one migration of the app."""
        text = STEP.format(about=f"Step {name}.", needs=[("late", need) for need in needs], statement=statement)
        (self.steps / f"{name}.py").write_text(textwrap.dedent(text))

    def migrate(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command."""
        path = os.pathsep.join([str(self.folder), str(settings.BASE_DIR)])
        environment = {
            **os.environ,
            "DATABASE_URL": self.url,
            "PYTHONPATH": path,
            "DJANGO_SETTINGS_MODULE": "latesettings",
        }
        command = [sys.executable, "-m", "django", "migrate", "--no-color", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self.folder, timeout=600)

    def ask(self, question: str) -> list[tuple[object, ...]]:
        """Rows of the database."""
        with psycopg.connect(self.url) as connected:
            return connected.execute(question).fetchall()


@pytest.fixture
def hub(tmp_path: Path, django_db_setup: None) -> Iterator[Hub]:
    own = connection.settings_dict
    where = {"host": own["HOST"], "user": own["USER"], "autocommit": True}
    name = sql.Identifier(DATABASE)
    with psycopg.connect(dbname="postgres", **where) as server:
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        server.execute(sql.SQL("CREATE DATABASE {}").format(name))
        try:
            yield Hub(tmp_path, f"postgresql://{own['USER']}@/{DATABASE}?host={own['HOST']}")
        finally:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@pytest.mark.slow
def test_every_step_is_in_the_ledger_once(hub: Hub) -> None:
    """MIG-12, MIG-13, TST-05: with description and duration; a second run adds nothing; late steps are not skipped;
    a step that fails leaves neither its half nor its record, and those before it stay (DEF-13)."""
    hub.step("0001_first", "CREATE TABLE late_one (n int)")
    hub.step("0003_third", "CREATE TABLE late_three (n int)", "0001_first")
    first = hub.migrate()
    assert first.returncode == 0, first.stderr
    applied = hub.ask("SELECT app, name FROM django_migrations ORDER BY 1, 2")
    ledger = "SELECT app, name FROM memories_migrationrecord WHERE kind = 'schema' AND state = 'done' ORDER BY 1, 2"
    assert hub.ask(ledger) == applied
    assert len(applied) > 20
    assert ("memories", "0001_initial") in applied
    wrong = "duration_ms IS NULL OR duration_ms < 0 OR finished_at < started_at OR finished_at IS NULL"
    assert hub.ask(f"SELECT app, name FROM memories_migrationrecord WHERE {wrong} OR description = ''") == []
    assert hub.ask("SELECT description FROM memories_migrationrecord WHERE name = '0003_third'") == [
        ("Step 0003_third.",)
    ]

    before = hub.ask("SELECT * FROM memories_migrationrecord ORDER BY id")
    assert hub.migrate().returncode == 0
    assert hub.ask("SELECT * FROM memories_migrationrecord ORDER BY id") == before

    hub.step("0002_second", "CREATE TABLE late_two (n int)", "0001_first")
    hub.step("0004_both", "CREATE TABLE late_four (n int)", "0002_second", "0003_third")
    hub.step("0005_broken", "CREATE TABLE late_five (n int); SELECT 1/0", "0004_both")
    broken = hub.migrate()
    assert broken.returncode != 0
    late = "SELECT name, duration_ms IS NOT NULL FROM memories_migrationrecord WHERE app = 'late' ORDER BY name"
    assert hub.ask(late) == [(f"000{n}_{name}", True) for n, name in enumerate(("first", "second", "third", "both"), 1)]
    assert hub.ask("SELECT to_regclass('late_two') IS NOT NULL, to_regclass('late_five')") == [(True, None)]

    hub.step("0005_broken", "CREATE TABLE late_five (n int)", "0004_both")
    assert hub.migrate().returncode == 0
    assert hub.ask(ledger) == hub.ask("SELECT app, name FROM django_migrations ORDER BY 1, 2")


def test_what_another_tool_applied_is_caught_up(db: None) -> None:
    """MIG-12: a step applied while the ledger could not be written is recorded later, once, without a duration."""
    MigrationRecord.objects.all().delete()
    for _ in range(2):
        record_migrations([AppliedMigration("memories", "0000_earlier", "x" * 900, 1.0, 2.5)])
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_migrations")
        (count,) = cursor.fetchone()
    assert MigrationRecord.objects.count() == count + 1
    lowest = MigrationRecord.objects.get(name="0000_earlier")
    assert (lowest.duration_ms, lowest.state, len(lowest.description)) == (1500.0, "done", 500)


def test_every_migration_of_ours_says_what_it_does() -> None:
    """MIG-13: the ledger is for people."""
    ours = {key: found for key, found in MigrationLoader(None).disk_migrations.items() if key[0] in OURS}
    assert ours
    for key, migration in ours.items():
        assert type(migration).__doc__ or migration.operations[0].describe(), key

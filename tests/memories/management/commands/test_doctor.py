from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection

from banks.models import KeyCheck
from memories.management import checkup


def findings() -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code and what was found, by part."""
    written = StringIO()
    try:
        call_command("doctor", "--json", stdout=written)
    except SystemExit as ended:
        return int(ended.code or 0), {each["part"]: each for each in json.loads(written.getvalue())}
    return 0, {each["part"]: each for each in json.loads(written.getvalue())}


@pytest.fixture
def broker_away(settings: Any) -> None:
    """No test needs a real broker to be told that there is none."""
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"


@pytest.mark.django_db
@pytest.mark.usefixtures("broker_away", "vault")
def test_it_looks_at_everything_and_advises_what_to_do():
    """STA-06, DEG-14: a broker that is away is found and hides nothing else."""
    code, found = findings()
    assert list(found) == list(checkup.CHECKS)
    assert code == 1
    assert not found["broker"]["ok"]
    assert "manage.py up" in found["broker"]["advice"]
    for part in ("database", "extension", "migrations", "keys", "index", "embedder"):
        assert found[part] == {"part": part, "ok": True, "seen": found[part]["seen"], "advice": ""}


@pytest.mark.django_db
@pytest.mark.usefixtures("broker_away", "vault")
def test_a_wrong_key_is_found_by_its_id():
    """ENC-11."""
    KeyCheck.objects.update_or_create(pk=1, defaults={"value": b"x" * 32})
    _, found = findings()
    assert not found["keys"]["ok"]
    assert "ncryption key 1 " in found["keys"]["seen"]
    assert found["database"]["ok"]


@pytest.mark.django_db
@pytest.mark.usefixtures("broker_away")
def test_a_migration_that_waits_is_found():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'memories'")
    _, found = findings()
    assert not found["migrations"]["ok"]
    assert "manage.py migrate" in found["migrations"]["advice"]


def test_a_database_that_is_away_is_one_finding():
    def away() -> checkup.Finding:
        raise OperationalError("gone")

    assert checkup._looked_at("database", away).advice.startswith("look at database")

"""The ledger of migrations over HTTP."""

from __future__ import annotations

from uuid import UUID

from banks.access import Access
from memories.rules.datamigrations import DataMigration
from memories.services.ledger import record_migrations
from memories.services.migrating import start_migration
from memories.services.running import run_job
from tests.conftest import ApiClient


def test_the_ledger_lists_what_changed_the_store(api: ApiClient):
    """MIG-12: every schema migration that ran, with its duration."""
    record_migrations([])  # a test that commits empties the ledger; this mirrors what Django remembers
    items = api.send("GET", "/migrations").json()["items"]
    names = {(item["app"], item["version"]) for item in items}
    assert ("memories", "0001_initial") in names
    assert {item["state"] for item in items} == {"done"}


def test_a_migration_is_started_and_seen(api: ApiClient, access: Access):
    """MIG-12: accepted with its job; a second of its kind waits for the first; an unknown target is named."""
    begun = api.send("POST", "/migrations", {"kind": "reseal"})
    assert begun.status_code == 202
    body = begun.json()
    assert (body["state"], body["app"], body["version"]) == ("running", "reseal_memories", "data key 2")
    assert api.send("GET", f"/jobs/{body['job_id']}").json()["kind"] == "reseal_memories"
    again = api.send("POST", "/migrations", {"kind": "reseal"})
    assert (again.status_code, again.json()["code"]) == (409, "migration_running")
    wrong = api.send("POST", "/migrations", {"kind": "reembed", "target": "openai/none"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "no_target")
    assert wrong.json()["errors"][0]["pointer"] == "/target"
    run_job(UUID(body["job_id"]))
    first = api.send("GET", "/migrations").json()["items"][0]
    assert (first["id"], first["state"], first["job_id"]) == (body["id"], "done", body["job_id"])


def test_another_vaults_migrations_are_not_listed(api: ApiClient, other_access: Access):
    """S2."""
    record = start_migration(other_access, DataMigration.REINDEX)
    assert str(record.pk) not in api.send("GET", "/migrations").content.decode()

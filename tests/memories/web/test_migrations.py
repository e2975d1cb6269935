"""Migrations in the browser: the ledger, and the buttons that move a vault's data."""

from __future__ import annotations

import pytest
from django.test import Client

from banks.access import Access
from banks.models import Vault
from memories.models import Job, MigrationRecord
from memories.services.running import run_job
from tests.factories import remember

pytestmark = pytest.mark.django_db


def test_each_move_is_started_followed_and_cancelled(browser: Client, vault: Vault, access: Access):
    """MIG-12: progress and cancel stand in the ledger; afterwards it says how many rows moved."""
    remember(access)
    html = browser.get("/migrations/").content.decode()
    assert "wordllama/l2_supercat_128" in html
    sent = browser.post("/migrations/start/", {"kind": "reembed", "target": "wordllama/l2_supercat_128"}, follow=True)
    assert "The vault is being re-embedded" in sent.content.decode()
    job = Job.objects.get(vault=vault)
    assert f"/jobs/{job.pk}/cancel/" in sent.content.decode()
    asked = {"HX-Request": "true", "HX-Target": "migrations"}
    assert 'hx-trigger="every 3s"' in browser.get("/migrations/", headers=asked).content.decode()
    run_job(job.pk)
    html = browser.get("/migrations/").content.decode()
    assert "1 of 1" in html
    assert 'hx-trigger="every 3s"' not in html
    assert "Now wordllama/l2_supercat_128, 128 dimensions" in html


def test_what_is_refused_is_said_on_the_page(browser: Client, vault: Vault):
    browser.post("/migrations/start/", {"kind": "reseal"})
    refused = browser.post("/migrations/start/", {"kind": "reseal"})
    assert refused.status_code == 422
    assert "is running in this vault" in refused.content.decode()
    assert browser.post("/migrations/start/", {"kind": "nonsense"}).status_code == 422


def test_a_viewer_only_looks(client: Client, viewer, vault: Vault):
    client.force_login(viewer, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert "/migrations/start/" not in client.get("/migrations/").content.decode()
    assert client.post("/migrations/start/", {"kind": "reindex"}).status_code == 403


def test_another_vaults_moves_are_not_shown(browser: Client, other_vault: Vault):
    """S2: the schema is everybody's, data is not."""
    MigrationRecord.objects.create(vault=other_vault, kind="data", app="reseal_memories", name="data key 77")
    assert "data key 77" not in browser.get("/migrations/").content.decode()

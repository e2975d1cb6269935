"""Summaries over REST: preview, start, list."""

from __future__ import annotations

import pytest

from banks.access import Access, KeyScope
from memories.models import Job
from tests.clusters import GARDEN, old, summarise
from tests.conftest import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)


def test_preview_start_and_list(api: ApiClient, access: Access):
    """CLU-10, CLU-12: what was named is what was summarised, and the changeset takes it back."""
    ids = [str(memory.pk) for memory in old(access, *GARDEN, tags=["garden"])]
    preview = api.send("GET", "/summaries/clusters?bank=General").json()
    (cluster,) = preview["clusters"]
    assert cluster["memory_ids"] == [memory["id"] for memory in cluster["memories"]] == ids
    assert (preview["total"], preview["examined"], preview["is_whole"], preview["has_model"]) == (1, 3, True, False)
    assert (cluster["shared"], cluster["estimated_tokens"]) == (["#garden"], 0)
    started = api.send("POST", "/summaries", {"clusters": [cluster["memory_ids"]]})
    assert (started.status_code, started.json()["kind"]) == (202, "summarize_memories")
    summarise(access)
    (made,) = api.send("GET", "/summaries").json()["items"]
    assert made["memory"]["summarized_from"] == [source["id"] for source in made["sources"]] == ids
    assert (made["memory"]["is_summarized"], made["memory"]["category"]) == (True, "summary")
    undone = api.send("POST", f"/changesets/{made['changeset_id']}/undo", {})
    assert undone.status_code == 200
    assert api.send("GET", "/memories").json()["total"] == 3


def test_everything_is_started_without_a_body(api: ApiClient, access: Access):
    """CLU-13."""
    old(access, *GARDEN)
    assert api.send("POST", "/summaries").status_code == 202
    assert api.send("POST", "/summaries", {}).status_code == 202
    assert Job.objects.filter(kind="summarize_memories").count() == 1, "one that waits is enough"


def test_pages_of_past_summaries(api: ApiClient, access: Access):
    old(access, *GARDEN)
    old(access, *GARDEN, user_id="bob")
    summarise(access)
    first = api.send("GET", "/summaries?limit=1").json()
    second = api.send("GET", f"/summaries?limit=1&cursor={first['next_cursor']}").json()
    assert len({page["items"][0]["id"] for page in (first, second)}) == 2
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    "clusters", [[], [["x", "y"]], [[]], "all", [["0" * 8]], [1]], ids=["none", "no ids", "empty", "word", "few", "1"]
)
def test_what_is_no_cluster_is_refused(api: ApiClient, access: Access, clusters: object):
    assert api.send("POST", "/summaries", {"clusters": clusters}).status_code == 422


def test_reading_is_not_enough_to_start(api_with, access: Access):
    assert api_with(KeyScope.CLEANUP_PLAN).send("POST", "/summaries").status_code == 403

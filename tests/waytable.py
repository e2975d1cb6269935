"""What everything that can be heard is caused by: each type of event, through each door that has a way to cause it."""

from __future__ import annotations

from io import StringIO

from django.core.management import call_command

from memories.jobs import JobKind
from memories.services.jobs import fail_job
from tests.factories import archive_together, claimed
from tests.ways import (
    CANARY,
    DONE,
    Way,
    World,
    a_dead_job,
    a_draft,
    a_full_vault,
    a_job_with_a_twin,
    a_key,
    a_pair,
    a_robot,
    a_summary,
    a_talk,
    aged,
    an_import,
    archived,
    bulk,
    clustered,
    edited,
    elsewhere,
    form_of,
    mem0s,
    of_somebody,
    something_old,
    two,
)

SEARCH = {"query": f"{CANARY} tune", "threshold": 0.0}
WAYS: dict[str, Way] = {
    # added
    "rest: write": Way(lambda w, _: w.rest("POST", "/memories", {"content": w.say()}), "memory.added"),
    "rest: write a batch": Way(
        lambda w, _: w.rest("POST", "/memories/batch", {"items": [{"content": w.say(), "dedup": False}] * 3}),
        "memory.added memory.added memory.added",
    ),
    "rest: write a fact": Way(lambda w, _: elsewhere(w, "POST", "/api/facts", fact_text=w.say()), "memory.added"),
    "rest: write as to mem0": Way(
        lambda w, _: elsewhere(w, "POST", "/compat/mem0/memories", messages=w.say(), user_id=CANARY, infer=False),
        "memory.added",
        mem0s,
    ),
    "mcp: write": Way(lambda w, _: w.tool("write_memory", content=w.say()), "memory.added"),
    "browser: write": Way(
        lambda w, _: w.page(
            "/memories/new/", content=w.say(), bank="work", type="fact", importance="3", confidence="3"
        ),
        "memory.added",
    ),
    "job: extraction": Way(
        lambda w, sid: (w.rest("POST", f"/sessions/{sid}/flush"), w.work(JobKind.EXTRACT_SESSION)),
        f"memory.added memory.added memory.extracted {DONE}",
        a_talk,
    ),
    "job: import": Way(lambda w, _: w.work(JobKind.IMPORT_VAULT), f"memory.added {DONE}", an_import),
    "job: summary": Way(
        lambda w, _: (w.rest("POST", "/summaries"), w.work(JobKind.SUMMARIZE_MEMORIES)),
        f"memory.added {'memory.archived ' * 3} {DONE}",
        clustered,
    ),
    # searched
    "rest: search": Way(lambda w, _: w.rest("POST", "/memories/search", SEARCH), "memory.searched", World.memory),
    "rest: search and find nothing": Way(lambda w, _: w.rest("POST", "/memories/search", SEARCH), "memory.searched"),
    "rest: search as in mem0": Way(
        lambda w, _: elsewhere(w, "POST", "/compat/mem0/search", query=CANARY, user_id=CANARY), "memory.searched", mem0s
    ),
    "mcp: search": Way(lambda w, _: w.tool("search_memories", **SEARCH), "memory.searched", World.memory),
    "browser: search": Way(lambda w, _: w.browser.get("/recall/", {"q": CANARY}), "memory.searched", World.memory),
    # updated
    "rest: edit": Way(
        lambda w, m: w.rest("PATCH", f"/memories/{m.pk}", {"content": w.say()}), "memory.updated", World.memory
    ),
    "rest: write the same id again": Way(
        lambda w, m: w.rest("POST", "/memories", {"content": w.say(), "external_write_id": "a"}),
        "memory.updated",
        lambda w: w.memory(external_write_id="a"),
    ),
    "rest: edit a fact": Way(
        lambda w, m: elsewhere(w, "PUT", f"/api/facts/{m.pk}", fact_text=w.say()), "memory.updated", World.memory
    ),
    "rest: edit as in mem0": Way(
        lambda w, m: elsewhere(w, "PUT", f"/compat/mem0/memories/{m.pk}", text=w.say()), "memory.updated", mem0s
    ),
    "mcp: edit": Way(
        lambda w, m: w.tool("update_memory", memory_id=str(m.pk), content=w.say()), "memory.updated", World.memory
    ),
    "browser: edit": Way(
        lambda w, m: w.page(f"/memories/{m.pk}/edit/", **form_of(m, content=w.say(), reason=w.say())),
        "memory.updated",
        World.memory,
    ),
    "browser: edit a line": Way(
        lambda w, m: w.page(f"/memories/{m.pk}/row/edit/", **form_of(m, tags=CANARY)), "memory.updated", World.memory
    ),
    "browser: move": Way(
        lambda w, m: w.page(f"/memories/{m.pk}/move/", bank="health", version=str(m.version), reason=w.say()),
        "memory.updated",
        World.memory,
    ),
    "browser: protect": Way(lambda w, m: w.page(f"/memories/{m.pk}/protect/"), "memory.updated", World.memory),
    "rest: bulk tags": Way(
        lambda w, ids: bulk(w, ids, "add_tags", tags=[CANARY]), "memory.updated memory.updated", two
    ),
    # superseded
    "rest: write a successor": Way(
        lambda w, m: w.rest("POST", "/memories", {"content": w.say(), "supersedes": str(m.pk)}),
        "memory.added memory.superseded",
        World.memory,
    ),
    "rest: replace by another": Way(
        lambda w, ids: w.rest("POST", f"/memories/{ids[0]}/supersede", {"by_id": ids[1]}), "memory.superseded", two
    ),
    "rest: decide for the newer": Way(
        lambda w, pair: w.rest("POST", f"/duplicates/{pair.pk}/resolve", {"decision": "supersede"}),
        "memory.superseded",
        a_pair,
    ),
    "rest: merge": Way(
        lambda w, pair: w.rest("POST", f"/duplicates/{pair.pk}/resolve", {"decision": "merge", "content": w.say()}),
        "memory.updated memory.superseded",
        a_pair,
    ),
    "mcp: write a successor": Way(
        lambda w, m: w.tool("write_memory", content=w.say(), supersededById=str(m.pk)),
        "memory.added memory.superseded",
        World.memory,
    ),
    "browser: replace": Way(
        lambda w, m: w.page(f"/memories/{m.pk}/replace/", content=w.say()),
        "memory.added memory.superseded",
        World.memory,
    ),
    # archived
    "rest: delete": Way(lambda w, m: w.rest("DELETE", f"/memories/{m.pk}"), "memory.archived", World.memory),
    "rest: archive": Way(
        lambda w, m: w.rest("POST", f"/memories/{m.pk}/archive", {"archived": True, "reason": w.say()}),
        "memory.archived",
        World.memory,
    ),
    "rest: delete as in mem0": Way(
        lambda w, m: elsewhere(w, "DELETE", f"/compat/mem0/memories/{m.pk}"), "memory.archived", mem0s
    ),
    "rest: delete all of one as in mem0": Way(
        lambda w, _: elsewhere(w, "DELETE", f"/compat/mem0/memories?user_id={CANARY}"), "memory.archived", mem0s
    ),
    "mcp: archive": Way(
        lambda w, m: w.tool("archive_memory", memory_id=str(m.pk), reason=w.say()), "memory.archived", World.memory
    ),
    "browser: archive": Way(lambda w, m: w.page(f"/memories/{m.pk}/archive/"), "memory.archived", World.memory),
    "rest: bulk archive": Way(lambda w, ids: bulk(w, ids, "archive"), "memory.archived memory.archived", two),
    "rest: write above the limit": Way(
        lambda w, _: w.rest("POST", "/memories", {"content": w.say()}), "memory.added memory.archived", a_full_vault
    ),
    "job: retention": Way(lambda w, _: w.work(JobKind.ENFORCE_RETENTION), f"memory.archived {DONE}", aged),
    "rest: apply a clean-up": Way(
        lambda w, plan: (
            w.rest("POST", f"/cleanup/plans/{plan.pk}/apply", w.confirmed(plan)),
            w.work(JobKind.APPLY_CLEANUP),
        ),
        f"cleanup.started memory.archived cleanup.applied {DONE}",
        World.plan,
    ),
    # brought back
    "rest: bring back": Way(
        lambda w, m: w.rest("POST", f"/memories/{m.pk}/archive", {"archived": False}), "memory.restored", archived
    ),
    "rest: an earlier version": Way(
        lambda w, m: w.rest("POST", f"/memories/{m.pk}/restore/1"), "memory.restored", edited
    ),
    "mcp: bring back": Way(
        lambda w, m: w.tool("archive_memory", memory_id=str(m.pk), archived=False), "memory.restored", archived
    ),
    "browser: bring back": Way(lambda w, m: w.page(f"/memories/{m.pk}/unarchive/"), "memory.restored", archived),
    "browser: an earlier version": Way(
        lambda w, m: w.page(f"/memories/{m.pk}/versions/1/restore/", version="2"), "memory.restored", edited
    ),
    "rest: bulk bring back": Way(lambda w, m: bulk(w, [str(m.pk)], "restore"), "memory.restored", archived),
    "rest: undo": Way(
        lambda w, one: w.rest("POST", f"/changesets/{one.pk}/undo"),
        "memory.restored memory.restored",
        lambda w: archive_together(w.access, w.say(), w.say()),
    ),
    "browser: undo": Way(
        lambda w, one: w.page(f"/changesets/{one.pk}/undo/"),
        "memory.restored memory.restored",
        lambda w: archive_together(w.access, w.say(), w.say()),
    ),
    "browser: undo a summary": Way(
        lambda w, m: w.page(f"/summaries/{m.pk}/undo/"), f"memory.archived {'memory.restored ' * 3}", a_summary
    ),
    "rest: undo an import": Way(
        lambda w, one: w.rest("POST", f"/changesets/{one}/undo"),
        "memory.archived",
        lambda w: w.rest("GET", f"/imports/{(an_import(w), w.work(JobKind.IMPORT_VAULT))[0]['id']}")["changeset_id"],
    ),
    # erased
    "rest: erase": Way(lambda w, m: w.rest("DELETE", f"/memories/{m.pk}?erase=true"), "memory.erased", World.memory),
    "browser: erase": Way(
        lambda w, m: w.page(f"/memories/{m.pk}/erase/", version="1", sure="on"), "memory.erased", World.memory
    ),
    "rest: erase all of somebody": Way(
        lambda w, name: (
            w.rest("POST", "/erasures", {"user_id": name, "dry_run": False, "expected_count": 2}),
            w.work(JobKind.ERASE_SUBJECT),
        ),
        f"memory.erased memory.erased memory.cleared {DONE}",
        of_somebody,
    ),
    "browser: erase all of somebody": Way(
        lambda w, name: (
            w.page("/activity/erasures/erase/", kind="user_id", name=name, expected_count="2"),
            w.work(JobKind.ERASE_SUBJECT),
        ),
        f"memory.erased memory.erased memory.cleared {DONE}",
        of_somebody,
    ),
    "rest: erase a conversation": Way(
        lambda w, sid: w.rest("DELETE", f"/sessions/{sid}?erase=true"), "memory.cleared", a_talk
    ),
    # reviewed
    "rest: accept": Way(
        lambda w, m: w.rest("POST", f"/memories/{m.pk}/status", {"status": "accepted", "reason": w.say()}),
        "memory.status_changed",
        a_draft,
    ),
    "rest: bulk accept": Way(lambda w, m: bulk(w, [str(m.pk)], "accept"), "memory.status_changed", a_draft),
    "browser: approve": Way(
        lambda w, m: w.page(f"/review/drafts/{m.pk}/approve/", version="1"), "memory.status_changed", a_draft
    ),
    "browser: reject": Way(lambda w, m: w.page(f"/review/drafts/{m.pk}/reject/"), "memory.status_changed", a_draft),
    "browser: reject all": Way(
        lambda w, _: w.page("/review/drafts/reject/", count="2"),
        "memory.status_changed memory.status_changed",
        lambda w: [a_draft(w), a_draft(w)],
    ),
    # dreamt
    "rest: dream": Way(
        lambda w, _: (w.rest("POST", "/dreams", {"lookback_days": 3}), w.work(JobKind.DREAM)),
        f"memory.dreamed {DONE}",
        World.noted,
    ),
    "browser: dream": Way(
        lambda w, _: (w.page("/summaries/dreams/ask/", lookback_days="7"), w.work(JobKind.DREAM)),
        f"memory.dreamed {DONE}",
        World.noted,
    ),
    # clean-ups
    "rest: plan": Way(
        lambda w, _: w.rest("POST", "/cleanup/plans", {"query": CANARY}), "cleanup.planned", World.memory
    ),
    "rest: look at what a clean-up would do": Way(
        lambda w, _: w.rest("POST", "/cleanup", {"dry_run": True}), "cleanup.planned", World.memory
    ),
    "mcp: look at what a clean-up would do": Way(
        lambda w, _: w.tool("cleanup_memories"), "cleanup.planned", something_old
    ),
    "browser: plan": Way(lambda w, _: w.page("/cleanup/", rule=["stale_episodic"]), "cleanup.planned", something_old),
    "job: a plan by the clock": Way(
        lambda w, _: w.by_the_clock(JobKind.PLAN_CLEANUP),
        f"cleanup.planned {DONE}",
        something_old,
    ),
    "mcp: clean up": Way(
        lambda w, _: (
            w.tool("cleanup_memories", dryRun=False, rules=["stale_episodic"]),
            w.work(JobKind.APPLY_CLEANUP),
        ),
        f"cleanup.planned cleanup.started memory.archived cleanup.applied {DONE}",
        World.plan,
    ),
    "browser: apply a clean-up": Way(
        lambda w, plan: (
            w.page(f"/cleanup/plans/{plan.pk}/apply/", **w.confirmed(plan)),
            w.work(JobKind.APPLY_CLEANUP),
        ),
        f"cleanup.started memory.archived cleanup.applied {DONE}",
        World.plan,
    ),
    "rest: undo a clean-up": Way(
        lambda w, plan: w.rest("POST", f"/changesets/{plan.changeset_id}/undo"),
        "memory.restored cleanup.undone",
        World.applied,
    ),
    "browser: undo a clean-up": Way(
        lambda w, plan: w.page(f"/changesets/{plan.changeset_id}/undo/"),
        "memory.restored cleanup.undone",
        World.applied,
    ),
    # jobs
    "job: fails": Way(lambda w, job: fail_job(claimed(job.pk), f"It quoted {CANARY}."), "job.failed", World.job),
    "job: fails for good": Way(
        lambda w, job: fail_job(claimed(job.pk), f"It quoted {CANARY}.", permanent=True), "job.dead", World.job
    ),
    "rest: cancel a job": Way(lambda w, job: w.rest("POST", f"/jobs/{job.pk}/cancel"), "job.cancelled", World.job),
    "browser: cancel a job": Way(lambda w, job: w.page(f"/jobs/{job.pk}/cancel/"), "job.cancelled", World.job),
    "rest: retry a job": Way(lambda w, job: w.rest("POST", f"/jobs/{job.pk}/retry"), "job.retried", a_dead_job),
    "browser: retry a job": Way(lambda w, job: w.page(f"/jobs/{job.pk}/retry/"), "job.retried", a_dead_job),
    "job: gives way to a newer one": Way(
        lambda w, job: fail_job(job, f"It quoted {CANARY}."), "job.cancelled", a_job_with_a_twin
    ),
    # guards
    "job: errors of the model": Way(lambda w, _: w.opened_guard(), "guard.activated"),
    "job: the model is back": Way(lambda w, _: w.probe(), "guard.recovered", World.opened_guard),
    "rest: reset the guards": Way(lambda w, _: w.rest("POST", "/guard/reset"), "guard.reset", World.opened_guard),
    "browser: reset the guards": Way(lambda w, _: w.page("/system/guard/reset/"), "guard.reset", World.opened_guard),
    # keys
    "rest: make a key": Way(
        lambda w, _: w.rest("POST", "/keys", {"name": CANARY, "scopes": ["memories:read"]}), "key.created"
    ),
    "rest: rotate a key": Way(lambda w, key: w.rest("POST", f"/keys/{key.pk}/rotate"), "key.rotated", a_key),
    "rest: revoke a key": Way(lambda w, key: w.rest("DELETE", f"/keys/{key.pk}"), "key.revoked", a_key),
    "rest: retire an agent": Way(
        lambda w, agent: w.rest("DELETE", f"/agents/{agent.pk}"), "key.revoked key.revoked", a_robot
    ),
    "browser: make a key": Way(lambda w, _: w.page("/keys/", name=CANARY, preset="agent", expires="30"), "key.created"),
    "browser: rotate a key": Way(lambda w, key: w.page(f"/keys/{key.pk}/rotate/"), "key.rotated", a_key),
    "browser: revoke a key": Way(lambda w, key: w.page(f"/keys/{key.pk}/revoke/"), "key.revoked", a_key),
    "command: make a key": Way(
        lambda w, _: call_command("create_key", "--vault", w.access.vault.name, "--name", CANARY, stdout=StringIO()),
        "key.created",
    ),
}
"""Keyed by door and deed."""

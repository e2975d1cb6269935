"""Many memories at once: bulk changes, clean-ups, summaries, close pairs, and taking it all back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from memoryhub.client.answers import Answer, Changeset, Job, Page, Plan
from memoryhub.client.fields import BulkOptions, Id, PlanChoice
from memoryhub.client.request import Call, get, patch, post, said, segment


def bulk_change(action: str, **options: Unpack[BulkOptions]) -> Call[Answer]:
    """One action on ``ids``, or on all that match ``query`` with the count that was seen; one changeset."""
    return post("/memories/bulk", Answer, {"action": action, **options})


def cleanup_memories(
    *, dry_run: bool = True, rules: Sequence[str] | None = None, query: str | None = None
) -> Call[Plan]:
    """What a clean-up would archive and why, kept as a plan; with ``dry_run=False`` it is applied."""
    return post("/cleanup", Plan, {"dry_run": dry_run, **said(rules=rules, query=query)})


def create_plan(*, rules: Sequence[str] | None = None, query: str | None = None) -> Call[Plan]:
    """Keep what a clean-up would archive, to be looked through."""
    return post("/cleanup/plans", Plan, said(rules=rules, query=query))


def list_plans(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Plan]]:
    """Plans, newest first."""
    return get("/cleanup/plans", Page[Plan], limit=limit, cursor=cursor)


def get_plan(plan_id: Id) -> Call[Plan]:
    """One plan with its state."""
    return get(f"/cleanup/plans/{segment(plan_id)}", Plan)


def list_plan_items(
    plan_id: Id,
    *,
    reason: str | None = None,
    ticked: bool | None = None,
    outcome: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Answer]]:
    """The candidates of a plan, and what is chosen of them."""
    path = f"/cleanup/plans/{segment(plan_id)}/items"
    return get(path, Page[Answer], reason=reason, ticked=ticked, outcome=outcome, limit=limit, cursor=cursor)


def choose_items(plan_id: Id, **choice: Unpack[PlanChoice]) -> Call[Plan]:
    """Tick or untick candidates, exempt them, or keep another one; the answer has the new count and hash."""
    return patch(f"/cleanup/plans/{segment(plan_id)}/items", Plan, dict(choice))


def apply_plan(plan_id: Id, expected_count: int, plan_hash: str, *, confirm_large: bool = False) -> Call[Plan]:
    """Archive what is chosen, as a job. Raises Conflict when the plan is not what was seen."""
    body = {"expected_count": expected_count, "plan_hash": plan_hash, "confirm_large": confirm_large}
    return post(f"/cleanup/plans/{segment(plan_id)}/apply", Plan, body)


def list_changesets(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Changeset]]:
    """What was changed as one, newest first."""
    return get("/changesets", Page[Changeset], limit=limit, cursor=cursor)


def get_changeset(
    changeset_id: Id, *, refused: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Changeset]:
    """One changeset and a page of its memories."""
    return get(f"/changesets/{segment(changeset_id)}", Changeset, refused=refused, limit=limit, cursor=cursor)


def undo_changeset(changeset_id: Id, *, memory_ids: Sequence[Id] | None = None) -> Call[Answer]:
    """Take it back, whole or for some memories; what was edited since is listed and left alone."""
    return post(f"/changesets/{segment(changeset_id)}/undo", Answer, said(memory_ids=memory_ids))


def preview_clusters(*, bank: str | None = None, limit: int | None = None) -> Call[Answer]:
    """Which old memories would be summarised together."""
    return get("/summaries/clusters", Answer, bank=bank, limit=limit)


def summarize_memories(*, clusters: Sequence[Sequence[Id]] | None = None) -> Call[Job]:
    """Summarise everything old enough, or the clusters named, as a job."""
    return post("/summaries", Job, said(clusters=clusters))


def list_summaries(*, limit: int | None = None, cursor: str | None = None) -> Call[Page[Answer]]:
    """Summaries with their sources, newest first."""
    return get("/summaries", Page[Answer], limit=limit, cursor=cursor)


def list_pairs(
    *, state: str | None = None, kind: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[Answer]]:
    """Close pairs that were both kept and wait for somebody to decide."""
    return get("/duplicates", Page[Answer], state=state, kind=kind, limit=limit, cursor=cursor)


def get_pair(pair_id: Id) -> Call[Answer]:
    """One pair, both memories, and in what they differ."""
    return get(f"/duplicates/{segment(pair_id)}", Answer)


def resolve_pair(
    pair_id: Id, decision: str, *, keep: str | None = None, content: str | None = None, reason: str = ""
) -> Call[Answer]:
    """Decide: ``keep_both``, ``merge``, ``supersede`` or ``not_duplicate``."""
    body: Mapping[str, Any] = {"decision": decision, "reason": reason, **said(keep=keep, content=content)}
    return post(f"/duplicates/{segment(pair_id)}/resolve", Answer, body)


def reopen_pair(pair_id: Id) -> Call[Answer]:
    """Take a decision back."""
    return post(f"/duplicates/{segment(pair_id)}/reopen", Answer)


def list_accesses(memory_id: Id, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[Answer]]:
    """Who was given a memory, when, and for what question."""
    return get(f"/memories/{segment(memory_id)}/accesses", Page[Answer], limit=limit, cursor=cursor)

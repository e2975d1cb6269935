"""Background work, migrations, moving a vault in and out, and erasing for good."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Unpack

from memoryhub.client.answers import Answer, EventPage, Job, Listing
from memoryhub.client.fields import Id, ImportOptions, RetentionFields
from memoryhub.client.request import Call, get, post, said, segment

#: A whole vault, as text in memory.
EXPORT_MAX = 4 * 2**30


def list_events(
    *, after: str | None = None, types: str | None = None, wait: float | None = None, limit: int | None = None
) -> Call[EventPage]:
    """What happened after ``after``; ``types`` such as ``memory.added,job.*``; ``wait`` up to 20 s for the next one."""
    return get("/events", EventPage, after=after, types=types, wait=wait, limit=limit)


def list_jobs(*, state: str | None = None, limit: int | None = None) -> Call[Listing[Job]]:
    """Background work, newest first."""
    return get("/jobs", Listing[Job], state=state, limit=limit)


def get_job(job_id: Id) -> Call[Job]:
    """One job: its state, stage and how much is done."""
    return get(f"/jobs/{segment(job_id)}", Job)


def cancel_job(job_id: Id) -> Call[Job]:
    """Stop a job; what it did stays."""
    return post(f"/jobs/{segment(job_id)}/cancel", Job)


def retry_job(job_id: Id) -> Call[Job]:
    """Try a dead job again."""
    return post(f"/jobs/{segment(job_id)}/retry", Job)


def read_guard() -> Call[Listing[Answer]]:
    """Whether language model and embedder are asked, or paused after errors."""
    return get("/guard", Listing[Answer])


def reset_guard() -> Call[Listing[Answer]]:
    """Ask them again at once."""
    return post("/guard/reset", Listing[Answer])


def list_model_calls(
    *, result: str | None = None, before: Id | None = None, limit: int | None = None
) -> Call[Listing[Answer]]:
    """Every question to a language model: purpose, tokens, result."""
    return get("/model-calls", Listing[Answer], result=result, before=before, limit=limit)


def read_stats(*, period: str | None = None, series: Sequence[str] | None = None) -> Call[Answer]:
    """What happened over ``24h``, ``7d``, ``30d`` (the default) or ``90d``: all counts, or the series named."""
    return get("/stats", Answer, period=period, series=series)


def list_migrations() -> Call[Listing[Answer]]:
    """What changed the store, and when."""
    return get("/migrations", Listing[Answer])


def start_migration(kind: str, *, target: str | None = None) -> Call[Answer]:
    """Move the vault's data: ``reembed``, ``reseal`` or ``reindex``."""
    return post("/migrations", Answer, {"kind": kind, **said(target=target)})


def export_vault(*, revisions: bool = False) -> Call[str]:
    """The whole vault as lines of JSON, in memory; for a large one use ``manage.py export_vault``."""
    return Call("POST", "/exports", bytes.decode, body={"revisions": revisions}, most=EXPORT_MAX, is_long=True)


def begin_import(content: str | bytes, **options: Unpack[ImportOptions]) -> Call[Answer]:
    """Send an export, or with ``kind`` another program's file; ``dry_run`` (the default) only reports."""
    return post("/imports", Answer, {**_piece(content), **options})


def stage_lines(import_id: Id, content: str | bytes, *, complete: bool = True) -> Call[Answer]:
    """Send more of a file that comes in several pieces."""
    return post(f"/imports/{segment(import_id)}/lines", Answer, {**_piece(content), "complete": complete})


def _piece(content: str | bytes) -> dict[str, str]:
    return {"base64": b64encode(content).decode()} if isinstance(content, bytes) else {"text": content}


def list_imports() -> Call[Listing[Answer]]:
    """Imports, newest first."""
    return get("/imports", Listing[Answer])


def get_import(import_id: Id) -> Call[Answer]:
    """One import: what was found, made and refused."""
    return get(f"/imports/{segment(import_id)}", Answer)


def apply_import(import_id: Id) -> Call[Answer]:
    """Bring in what was checked, as a job and one changeset."""
    return post(f"/imports/{segment(import_id)}/apply", Answer)


def erase_everything(
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    session_id: str | None = None,
    dry_run: bool = True,
    expected_count: int | None = None,
) -> Call[Answer]:
    """Count, or with ``dry_run=False`` and the count erase, everything about somebody."""
    whose = said(user_id=user_id, agent_id=agent_id, session_id=session_id, expected_count=expected_count)
    return post("/erasures", Answer, {**whose, "dry_run": dry_run})


def list_receipts(*, before: Id | None = None, limit: int | None = None) -> Call[Listing[Answer]]:
    """Receipts of erasures, newest first."""
    return get("/erasures", Listing[Answer], before=before, limit=limit)


def get_receipt(receipt_id: Id) -> Call[Answer]:
    """One receipt."""
    return get(f"/erasures/{segment(receipt_id)}", Answer)


def verify_receipt(receipt_id: Id, *, signature: str | None = None) -> Call[Answer]:
    """Whether a receipt is genuine and what it names is gone."""
    return get(f"/erasures/{segment(receipt_id)}/verify", Answer, signature=signature)


def preview_retention(*, bank: str | None = None) -> Call[Listing[Answer]]:
    """What each bank keeps, and what that would archive now."""
    return get("/retention", Listing[Answer], bank=bank)


def write_retention(bank: str, **fields: Unpack[RetentionFields]) -> Call[Listing[Answer]]:
    """Say what a bank keeps."""
    return Call("PUT", "/retention", Listing[Answer].model_validate_json, body={"bank": bank, **fields})


def start_retention() -> Call[Answer]:
    """Enforce retention now, as a job."""
    return post("/retention/enforce", Answer)

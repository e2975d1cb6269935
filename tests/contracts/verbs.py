"""Every verb of every room, asked for one thing: what the tests of isolation call, by name.

The tables are checked against the source: a new verb that is in none of them, nor a step of one, fails the census.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import models

from banks.access import Access
from banks.models import Agent, ApiKey, Bank
from banks.services import agents, audit, auditlines, banks, keys
from banks.services.drafts import AgentChanges, AgentDraft, BankChanges, KeyDraft
from memories.models import (
    Changeset,
    CleanupPlan,
    Dream,
    DuplicatePair,
    ErasureReceipt,
    Job,
    Memory,
    SavedView,
    Session,
    VaultImport,
    Webhook,
)
from memories.rules.bulk import BulkAction, BulkChange
from memories.rules.cleanupwishes import CleanupWish, PlanChoice
from memories.rules.drafts import MemoryChanges, Resolution
from memories.rules.filters import AbsenceQuery, ContextQuery, MemoryFilter, Presence, SearchQuery, StatusFilter
from memories.rules.imports import FileWish
from memories.rules.mem0words import UpdateMemory
from memories.rules.settings import Level
from memories.rules.vocabulary import ErasureKind, Relation, Status
from memories.rules.webhookwishes import WebhookChanges
from memories.search import (
    absence,
    accesses,
    callers,
    coredocument,
    dreams,
    events,
    facets,
    firstcall,
    injection,
    listening,
    listing,
    notes,
    reading,
    recall,
    sizes,
    standing,
    subjects,
    survey,
)
from memories.search import sessions as conversations
from memories.search import summaries as written
from memories.search.numbered import list_numbered
from memories.services import (
    applying,
    bulk,
    changesets,
    cleanup,
    compatibility,
    deliveries,
    duplicates,
    editing,
    erasing,
    erasingsessions,
    erasingsubjects,
    exporting,
    extraction,
    imports,
    jobs,
    lifecycle,
    linking,
    meeting,
    modelcalls,
    nearness,
    offering,
    plans,
    receipts,
    received,
    retention,
    reviewing,
    revising,
    savedviews,
    sessions,
    settings,
    sources,
    superseding,
    undoing,
    unsummarizing,
    webhooks,
    writing,
)
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.ids import new_id
from tests.factories import draft, remember

HIDDEN = "xylophone"
EVERYTHING = MemoryFilter(status=StatusFilter.ANY, archived=Presence.ANY)
LABELS = list(facets.Facet)

type Verb = Callable[[Access, UUID], object]
KEEP_BOTH = Resolution.parse({"decision": "keep_both"})
UNTICK = PlanChoice.parse({"ticked": False})
NEVER_RECALLED = CleanupWish.parse({"rules": ["never_recalled", "low_stale", "exact_duplicate", "near_duplicate"]})
EDIT = MemoryChanges.parse({"content": "overwritten"})

MEMORY_BY_ID: dict[str, Verb] = {
    "update_memory": lambda who, target: editing.update_memory(who, target, EDIT),
    "restore_version": lambda who, target: editing.restore_version(who, target, 1),
    "archive_memory": lambda who, target: lifecycle.archive_memory(who, target),
    "change_told": lambda who, target: compatibility.change_told(who, target, UpdateMemory(text="Changed.")),
    "delete_told": lambda who, target: compatibility.delete_told(who, target),
    "change_status": lambda who, target: lifecycle.change_status(who, target, Status.DISCARD),
    "approve_draft": lambda who, target: reviewing.approve_draft(who, target),
    "reject_draft": lambda who, target: reviewing.reject_draft(who, target),
    "supersede_memory": lambda who, target: lifecycle.supersede_memory(who, target, own(who).pk),
    "write_successor": lambda who, target: writing.write_successor(who, str(target), draft("something else")),
    "supersede_memory by": lambda who, target: lifecycle.supersede_memory(who, own(who).pk, target),
    "summarize_memories": lambda who, target: offering.summarize_memories(who, [[own(who).pk, own(who).pk, target]]),
    "undo_summary": lambda who, target: unsummarizing.undo_summary(who, target),
    "erase_memory": lambda who, target: erasing.erase_memory(who, target),
    "preview_erasure": lambda who, target: erasing.preview_erasure(who, target),
    "create_link": lambda who, target: linking.create_link(who, own(who).pk, target, Relation.RELATED),
    "create_link from": lambda who, target: linking.create_link(who, target, own(who).pk, Relation.RELATED),
    "delete_link": lambda who, target: linking.delete_link(who, target, new_id()),
    "decide_near": lambda who, target: nearness.decide_near(who, own(who).pk, target),
    "decide_near from": lambda who, target: nearness.decide_near(who, target, own(who).pk, target),
    "locked_memory": lambda who, target: revising.locked_memory(who, target),
    "check_successor": lambda who, target: superseding.check_successor(who, target),
    "write_memory": lambda who, target: writing.write_memory(who, draft("new", bank="Work", supersedes=str(target))),
    "get_memory": lambda who, target: reading.get_memory(who, target),
    "explain_absence": lambda who, target: absence.explain_absence(who, AbsenceQuery(query="x", id=str(target))),
    "list_revisions": lambda who, target: reading.list_revisions(who, target),
    "get_revision": lambda who, target: reading.get_revision(who, target, 1),
    "list_links": lambda who, target: reading.list_links(who, target),
    "list_accesses": lambda who, target: accesses.list_accesses(who, target),
    "read_chain": lambda who, target: reading.read_chain(who, target),
}
"""Verbs that name a memory: a hidden one must be answered exactly like an unknown one."""

OTHERS_BY_ID: dict[str, tuple[type[models.Model], Verb]] = {
    "get_webhook": (Webhook, lambda who, target: webhooks.get_webhook(who, target)),
    "update_webhook": (Webhook, lambda who, target: webhooks.update_webhook(who, target, WebhookChanges(name="x"))),
    "rotate_webhook_secret": (Webhook, lambda who, target: webhooks.rotate_webhook_secret(who, target)),
    "delete_webhook": (Webhook, lambda who, target: webhooks.delete_webhook(who, target)),
    "allow_private": (Webhook, lambda who, target: webhooks.allow_private(who, target)),
    "send_test": (Webhook, lambda who, target: deliveries.send_test(who, target)),
    "list_deliveries": (Webhook, lambda who, target: deliveries.list_deliveries(who, target)),
    "redeliver": (Webhook, lambda who, target: deliveries.redeliver(who, target, target)),
    "delete_view": (SavedView, lambda who, target: savedviews.delete_view(who, target)),
    "get_job": (Job, lambda who, target: jobs.get_job(who, target)),
    "retry_job": (Job, lambda who, target: jobs.retry_job(who, target)),
    "cancel_job": (Job, lambda who, target: jobs.cancel_job(who, target)),
    "get_pair": (DuplicatePair, lambda who, target: duplicates.get_pair(who, target)),
    "resolve_pair": (DuplicatePair, lambda who, target: duplicates.resolve_pair(who, target, KEEP_BOTH)),
    "reopen_pair": (DuplicatePair, lambda who, target: duplicates.reopen_pair(who, target)),
    "get_session": (Session, lambda who, target: conversations.get_session(who, str(target))),
    "find_session": (Session, lambda who, target: conversations.find_session(who, target)),
    "read_window": (Session, lambda who, target: conversations.read_window(who, str(target))),
    "preview_extraction": (Session, lambda who, target: extraction.preview_extraction(who, target)),
    "flush_session": (Session, lambda who, target: sessions.flush_session(who, str(target))),
    "erase_session": (Session, lambda who, target: erasingsessions.erase_session(who, target)),
    "get_import": (VaultImport, lambda who, target: imports.get_import(who, target)),
    "stage_lines": (VaultImport, lambda who, target: imports.stage_lines(who, target, [b"{}"])),
    "receiving_import": (VaultImport, lambda who, target: imports.receiving_import(who, target)),
    "stage_file": (VaultImport, lambda who, target: received.stage_file(who, target, FileWish(), b"[]")),
    "stage_more": (VaultImport, lambda who, target: received.stage_more(who, target, b"{}")),
    "stage_source": (
        VaultImport,
        lambda who, target: sources.stage_source(who, target, sources.SourceFile("x.json", body=b"[]")),
    ),
    "check_import": (VaultImport, lambda who, target: imports.check_import(who, target)),
    "apply_import": (VaultImport, lambda who, target: imports.apply_import(who, target)),
    "get_plan": (CleanupPlan, lambda who, target: plans.get_plan(who, target)),
    "find_plan": (CleanupPlan, lambda who, target: plans.find_plan(who, target)),
    "list_plan_items": (CleanupPlan, lambda who, target: plans.list_plan_items(who, target)),
    "list_clusters": (CleanupPlan, lambda who, target: plans.list_clusters(who, target)),
    "choose_items": (CleanupPlan, lambda who, target: plans.choose_items(who, target, UNTICK)),
    "apply_plan": (CleanupPlan, lambda who, target: applying.apply_plan(who, target, 1, "0" * 64)),
    "get_changeset": (Changeset, lambda who, target: changesets.get_changeset(who, target)),
    "find_changeset": (Changeset, lambda who, target: changesets.find_changeset(who, target)),
    "list_items": (Changeset, lambda who, target: changesets.list_items(who, target)),
    "undo_changeset": (Changeset, lambda who, target: undoing.undo_changeset(who, target)),
    "get_receipt": (ErasureReceipt, lambda who, target: receipts.get_receipt(who, target)),
    "verify_receipt": (ErasureReceipt, lambda who, target: receipts.verify_receipt(who, target)),
    "preview_retention by": (Bank, lambda who, target: retention.preview_retention(who, str(target))),
    "write_retention": (Bank, lambda who, target: retention.write_retention(who, str(target), {})),
    "undo_rejection": (Changeset, lambda who, target: reviewing.undo_rejection(who, target)),
    "get_dream": (Dream, lambda who, target: dreams.get_dream(who, target)),
    "get_agent": (Agent, lambda who, target: agents.get_agent(who, target)),
    "find_agent": (Agent, lambda who, target: agents.find_agent(who, target)),
    "update_agent": (Agent, lambda who, target: agents.update_agent(who, target, AgentChanges.parse({"name": "x"}))),
    "retire_agent": (Agent, lambda who, target: agents.retire_agent(who, target)),
    "find_bank": (Bank, lambda who, target: banks.find_bank(who, str(target))),
    "find_banks": (Bank, lambda who, target: banks.find_banks(who, [str(target)])),
    "get_bank": (Bank, lambda who, target: banks.get_bank(who, target)),
    "update_bank": (Bank, lambda who, target: banks.update_bank(who, target, BankChanges.parse({"name": "x"}))),
    "archive_bank": (Bank, lambda who, target: banks.archive_bank(who, target)),
    "get_key": (ApiKey, lambda who, target: keys.get_key(who, target)),
    "rotate_key": (ApiKey, lambda who, target: keys.rotate_key(who, target)),
    "revoke_key": (ApiKey, lambda who, target: keys.revoke_key(who, target)),
    "create_key": (Bank, lambda who, target: keys.create_key(who, key_draft(banks=[str(target)]))),
    "create_key for": (Agent, lambda who, target: keys.create_key(who, key_draft(agent=str(target)))),
    "create_agent": (Bank, lambda who, target: agents.create_agent(who, agent_draft(target))),
    "write_setting": (Bank, lambda who, target: settings.write_setting(who, Level.BANK, "dedup", False, str(target))),
    "bulk_change": (Bank, lambda who, target: bulk.bulk_change(who, bulk_change(bank=str(target)))),
    "write_batch": (Bank, lambda who, target: raising(writing.write_batch(who, [draft("x", bank=str(target))]))),
}
"""Verbs that name something else of a vault."""

LISTING: dict[str, Callable[[Access], object]] = {
    "plan_cleanup": lambda who: cleanup.plan_cleanup(who),
    "create_plan": lambda who: plans.list_plan_items(who, plans.create_plan(who, NEVER_RECALLED).pk),
    "cleanup_memories": lambda who: plans.list_plan_items(who, applying.cleanup_memories(who, CleanupWish()).pk),
    "find_candidates": lambda who: cleanup.find_candidates(who, NEVER_RECALLED),
    "list_subjects": lambda who: subjects.list_subjects(who, ["user_id", "agent_id", "session_id"]),
    "count_facets": lambda who: facets.count_facets(who, EVERYTHING, LABELS),
    "list_memories": lambda who: listing.list_memories(who, EVERYTHING, limit=200),
    "delete_all_told": lambda who: sorted(compatibility.delete_all_told(who, EVERYTHING).skipped),
    "list_numbered": lambda who: list_numbered(who, EVERYTHING, 1, 200).items,
    "list_memories by text": lambda who: listing.list_memories(who, MemoryFilter(q=HIDDEN)),
    "list_memories by phrase": lambda who: listing.list_memories(who, MemoryFilter(q=f'"{HIDDEN}" status:any')),
    "list_memories by link": lambda who: listing.list_memories(who, MemoryFilter(q="has:links archived:any")),
    "read_memories": lambda who: reading.read_memories(who, list(Memory.objects.values_list("pk", flat=True)))[0],
    "search_memories": lambda who: recall.search_memories(who, SearchQuery(query=HIDDEN, threshold=0.0)).hits,
    "search_memories anywhere": lambda who: (
        recall.search_memories(
            who, SearchQuery(query=HIDDEN, threshold=0.0, include_archived=True, status=StatusFilter.ANY)
        ).hits
    ),
    "list_pairs": lambda who: duplicates.list_pairs(who),
    "export_vault": lambda who: b"".join(exporting.export_vault(who, with_revisions=True)).decode(),
    "count_pairs": lambda who: duplicates.count_pairs(who),
    "search_memories then": lambda who: (
        recall.search_memories(who, SearchQuery(query=HIDDEN, threshold=0.0, as_of=now(), status=StatusFilter.ANY)).hits
    ),
    "list_memories then": lambda who: listing.list_memories(who, EVERYTHING.model_copy(update={"as_of": now()})),
    "format_for_injection": lambda who: injection.format_for_injection(who, ContextQuery(query=HIDDEN)),
    "format_for_injection unasked": lambda who: injection.format_for_injection(who, ContextQuery()),
    "list_daily_notes": lambda who: notes.list_daily_notes(who),
    "read_daily_note": lambda who: [notes.read_daily_note(who, day.date) for day in notes.list_daily_notes(who)],
    "list_namespaces": lambda who: notes.list_namespaces(who),
    "read_core_document": lambda who: coredocument.read_core_document(who),
    "read_core_versions": lambda who: coredocument.read_core_versions(who, ["default"], 0, 0),
    "compare_core_versions": lambda who: coredocument.compare_core_versions(who, ["default"], 0, 0)[2],
    "list_core_versions": lambda who: coredocument.list_core_versions(who),
    "list_dreams": lambda who: dreams.list_dreams(who, None),
    "count_standing": lambda who: standing.count_standing(who, EVERYTHING),
    "preview_clusters": lambda who: offering.preview_clusters(who),
    "list_summaries": lambda who: written.list_summaries(who).items,
    "browse_memories": lambda who: listing.browse_memories(
        who, EVERYTHING, listing.Order(limit=200), survey.Surveyed(LABELS, {})
    ),
    "count_chosen": lambda who: bulk.count_chosen(
        who, BulkChange(action=BulkAction.ARCHIVE, query=EVERYTHING, expected_count=0)
    ),
    "list_views": lambda who: savedviews.list_views(who),
    "survey_memories": lambda who: survey.survey_memories(who, EVERYTHING, LABELS, {}),
}
"""Verbs that show memories: nothing hidden may be in the answer."""

OF_THE_VAULT: dict[str, Callable[[Access], object]] = {
    "list_model_calls": lambda who: modelcalls.list_model_calls(who),
    "count_model_calls": lambda who: modelcalls.count_model_calls(who),
    "read_guard": lambda who: modelcalls.read_guard(who),
    "reset_guard": lambda who: modelcalls.reset_guard(who),
    "preview_retention": lambda who: [dict(one.to_archive) for one in retention.preview_retention(who)],
    "start_retention": lambda who: retention.start_retention(who),
    "list_receipts": lambda who: receipts.list_receipts(who),
    "count_subject": lambda who: erasingsubjects.count_subject(who, ErasureKind.USER, HIDDEN),
    "list_events": lambda who: events.list_events(who, events.EventQuery()).items,
    "await_events": lambda who: listening.await_events(who, events.EventQuery(), 0).items,
    "list_webhooks": lambda who: webhooks.list_webhooks(who),
    "list_jobs": lambda who: jobs.list_jobs(who),
    "list_imports": lambda who: imports.list_imports(who),
    "count_jobs": lambda who: sum(jobs.count_jobs(who).values()),
    "count_waiting": lambda who: reviewing.count_waiting(who),
    "read_settings": lambda who: settings.read_settings(who),
    "doings_of_keys": lambda who: callers.doings_of_keys(who),
    "doings_of_agents": lambda who: callers.doings_of_agents(who),
    "use_of_banks": lambda who: callers.use_of_banks(who),
    "audit_choices": lambda who: audit.audit_choices(who),
    "read_sizes": lambda who: sizes.read_sizes(who),
    "find_call": lambda who: firstcall.find_call(who, now() - dt.timedelta(days=365)),
    "survey_settings": lambda who: settings.survey_settings(who),
    "list_plans": lambda who: plans.list_plans(who),
    "list_changesets": lambda who: changesets.list_changesets(who),
    "list_sessions": lambda who: conversations.list_sessions(who).items,
    "list_agents": lambda who: agents.list_agents(who),
    "list_audit": lambda who: audit.list_audit(who),
    "list_audit_lines": lambda who: auditlines.list_audit_lines(who, 100),
    "list_banks": lambda who: banks.list_banks(who, include_hidden=True),
    "list_keys": lambda who: keys.list_keys(who),
    "pick_default": lambda who: banks.pick_default(who, banks.list_banks(who)),
    "meeting": lambda who: meeting.meeting(who, ["anything"], [b"anything"]),
    "says_the_same": lambda who: meeting.says_the_same(who, own(who)),
}
"""Verbs that show other things of the whole vault: nothing of another vault may be in the answer."""


def key_draft(**more: object) -> KeyDraft:
    return KeyDraft.parse({"name": "k", "scopes": ["memories:read"], **more})


def agent_draft(bank: UUID) -> AgentDraft:
    return AgentDraft.parse({"name": "a", "default_bank": str(bank)})


def bulk_change(**more: object) -> BulkChange:
    return BulkChange.parse({"action": "move_bank", "ids": [str(new_id())], **more})


def raising(results: Sequence[object]) -> None:
    for result in results:
        if isinstance(result, HubError):
            raise result


def own(who: Access) -> Memory:
    """A memory the caller may see."""
    return remember(who, f"own {new_id()}", bank="Work")

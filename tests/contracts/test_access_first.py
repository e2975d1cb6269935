"""Holding an Access is the permission: every verb takes it first, so none can be called without saying who asks."""

from __future__ import annotations

import ast

from tests.contracts import laws
from tests.contracts.tree import named, parsed, python_files

ROOMS = ("memories/services", "memories/search", "banks/services")

WITHOUT: dict[str, tuple[str, ...]] = {
    "there is no vault yet to have access to": (
        "banks/services/vaults.py:create_vault",
        "banks/services/banks.py:new_bank",
    ),
    "no access to a shredded vault can be opened; it asks for the person's membership itself": (
        "memories/services/shredding.py:find_shredding",
    ),
    "it concerns the store, or is for its operator at a terminal, who holds the keys": (
        "banks/services/vaults.py:find_vault",
        "banks/services/keyring.py:verify_keys",
        "banks/services/shredding.py:sign_for_hub",
        "memories/services/shredding.py:holds_for_hub",
        "banks/services/keyring.py:active_master_key",
        "banks/services/keyring.py:rotate_master_key",
        "banks/services/keyring.py:unused_master_keys",
        "banks/services/keyring.py:wrapped_otherwise",
        "banks/services/sealguard.py:guard_sealed_tables",
        "memories/services/datamigrations.py:record_master_key",
        "memories/services/imports.py:drop_abandoned_imports",
        "memories/services/accesses.py:flush_accesses",
        "memories/services/accesses.py:start_recording",
        "memories/services/accesses.py:trim_access_log",
        "memories/services/eventlog.py:trim_events",
        "memories/services/deliveries.py:someone_listens",
        "memories/services/deliveries.py:trim_deliveries",
        "memories/services/pulse.py:start_pulse",
        "memories/services/idempotency.py:forget_old_answers",
        "memories/services/ledger.py:record_migrations",
        "memories/search/distribution.py:count_by_bank",
        "memories/search/distribution.py:forget_counts",
        "memories/search/timing.py:note_stages",
        "memories/search/timing.py:start_timing",
        "memories/search/timing.py:flush_timing",
        "memories/services/rollups.py:roll_up",
        "memories/services/rollups.py:fold_tallies",
        "memories/services/rollups.py:fill_rollups",
    ),
    "a worker acts for the hub: it takes a job by id and makes an Access for the job's own vault": (
        "memories/services/datamigrations.py:end_migration",
        "memories/services/deliveries.py:fan_out",
        "memories/services/deliveries.py:listener",
        "memories/services/deliveries.py:messages_of",
        "memories/services/delivering.py:deliver_webhooks",
        "memories/services/delivering.py:has_waiting",
        "memories/services/datamigrations.py:note_rows",
        "memories/services/embedding.py:wake_waiting",
        "memories/services/jobs.py:claim_job",
        "memories/services/jobs.py:defer_job",
        "memories/services/jobs.py:due_jobs",
        "memories/services/jobs.py:fail_job",
        "memories/services/jobs.py:finish_job",
        "memories/services/jobs.py:hold_job",
        "memories/services/jobs.py:report_progress",
        "memories/services/jobs.py:renew_lease",
        "memories/services/leasing.py:renewed",
        "memories/services/running.py:run_job",
        "memories/services/schedules.py:enqueue_periodic",
    ),
    "a step of a verb that has checked; it writes for a vault and returns nothing of it": (
        "memories/services/archiving.py:link_successors",
        "memories/services/changesets.py:record_items",
        "memories/services/contention.py:lock_chains",
        "memories/services/context.py:allocate_documents",
        "memories/services/context.py:extend_documents",
        "memories/services/debouncing.py:debounce_job",
        "memories/services/dreaming.py:save_lines",
        "memories/services/jobs.py:enqueue_job",
        "memories/services/batches.py:open_batch",
        "memories/services/upkeep.py:remember_upkeep",
    ),
    "a stage of search_memories: the Access is in what was asked": (
        "memories/search/balanced.py:balanced",
        "memories/search/balanced.py:manner_of",
        "memories/search/balanced.py:weighed",
        "memories/search/judging.py:judge",
        "memories/search/recall.py:ask_legs",
        "memories/search/recall.py:judged",
        "memories/search/recall.py:cut",
        "memories/search/recall.py:rank",
        "memories/search/recall.py:threshold_of",
        "memories/search/seedprofile.py:manner_of",
        "memories/search/seedprofile.py:seed",
        "memories/search/seedprofile.py:seeds_of",
        "memories/search/seedprofile.py:weights_of",
    ),
    "a step of import_vault, which has checked: the Access of whoever asked is in the context it is given": (
        "memories/services/datamigrations.py:record_import",
        "memories/services/imports.py:fail_import",
        "memories/services/lineties.py:bring_links",
        "memories/services/lineties.py:bring_messages",
        "memories/services/lineties.py:bring_sessions",
        "memories/services/lineties.py:twins_of",
        "memories/services/linewrites.py:write_lines",
    ),
    "it looks only at what it is given": (
        "memories/services/imports.py:lines_of",
        "memories/services/linesmet.py:values_to_change",
        "banks/services/banks.py:name_key",
        "banks/services/banks.py:remembered_banks",
        "memories/search/filtering.py:is_recallable",
        "memories/search/statistics.py:by_bank",
        "memories/search/candidates.py:allowed",
        "memories/search/candidates.py:run",
        "memories/search/counting.py:counting",
        "memories/search/counting.py:read_counts",
        "memories/search/facets.py:label_of",
        "memories/search/facets.py:labelled",
        "memories/search/features.py:features",
        "memories/search/opening.py:opens",
        "memories/search/phrases.py:quoted",
        "memories/search/ranking.py:best_units",
        "memories/search/reach.py:within",
        "memories/search/ranking.py:first_units",
        "memories/search/ranking.py:ranked",
        "memories/search/sessions.py:item_of",
        "memories/search/sessions.py:items_of",
        "memories/services/acting.py:origin_of",
        "memories/services/receipts.py:count_removed",
        "memories/services/sessions.py:patience_of",
        "memories/services/sessions.py:summary_limits_of",
        "memories/search/tally.py:bits",
        "memories/search/tally.py:flags",
        "memories/search/windows.py:directions",
        "memories/search/windows.py:windows_of",
        "memories/search/reading.py:with_relations",
        "memories/search/shapes.py:memory_out",
        "memories/search/listing.py:beyond",
        "memories/search/listing.py:edge",
        "memories/services/comparing.py:compares_meaning",
        "memories/services/comparing.py:labelled_differently",
        "memories/services/clustering.py:group_of",
        "memories/services/consolidating.py:sources_of",
        "memories/services/contention.py:despite_deadlocks",
        "memories/services/contention.py:is_deadlock",
        "memories/services/contention.py:took_newer_key",
        "memories/services/meeting.py:has_expired",
        "memories/services/meeting.py:is_live",
        "memories/services/preparing.py:check_length",
        "memories/services/preparing.py:identity_of",
        "memories/services/superseding.py:succeeding",
        "memories/services/unsummarizing.py:archived_for",
        "memories/services/revising.py:added",
        "memories/services/revising.py:broken_constraint",
        "memories/services/revising.py:differs",
        "memories/services/revising.py:public_name",
        "memories/services/revising.py:shared_bank",
        "memories/services/revising.py:snapshot",
        "memories/services/revising.py:thawed",
        "memories/services/revising.py:translated",
    ),
}
"""Public functions that need no Access, by reason."""
EXCEPTIONS = {name for names in WITHOUT.values() for name in names}


def offenders() -> set[str]:
    files = python_files(*ROOMS)
    return {f"{named(path)}:{name}" for path in files for name in laws.access_not_first(parsed(path))}


def test_every_verb_takes_access_first():
    assert sorted(offenders() - EXCEPTIONS) == []


def test_the_list_of_exceptions_holds_no_dead_entry():
    assert sorted(EXCEPTIONS - offenders()) == []


def test_the_checker_sees_a_verb_without_access():
    good = """
def read(access: Access, id: UUID) -> Memory: ...
def step(context: WriteContext): ...
def _inner(row): ...
class C:
    def method(self): ...
"""
    assert laws.access_not_first(ast.parse(good)) == []
    bad = "def read(id: UUID, access: Access): ...\ndef purge(): ...\nasync def find(access): ..."
    assert laws.access_not_first(ast.parse(bad)) == ["read", "purge", "find"]

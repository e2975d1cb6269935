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
    "it concerns the store, or is for its operator at a terminal, who holds the keys": (
        "banks/services/vaults.py:find_vault",
        "banks/services/keyring.py:verify_keys",
        "memories/services/idempotency.py:forget_old_answers",
        "memories/services/ledger.py:record_migrations",
    ),
    "a worker acts for the hub: it takes a job by id and makes an Access for the job's own vault": (
        "memories/services/embedding.py:wake_waiting",
        "memories/services/jobs.py:claim_job",
        "memories/services/jobs.py:due_jobs",
        "memories/services/jobs.py:fail_job",
        "memories/services/jobs.py:finish_job",
        "memories/services/jobs.py:hold_job",
        "memories/services/jobs.py:report_progress",
        "memories/services/running.py:run_job",
    ),
    "a step of a verb that has checked; it writes for a vault and returns nothing of it": (
        "memories/services/contention.py:lock_chains",
        "memories/services/context.py:allocate_documents",
        "memories/services/context.py:extend_documents",
        "memories/services/jobs.py:enqueue_job",
        "memories/services/upkeep.py:remember_upkeep",
    ),
    "a stage of search_memories: the Access is in what was asked": (
        "memories/search/balanced.py:balanced",
        "memories/search/balanced.py:weighed",
        "memories/search/recall.py:ask_legs",
        "memories/search/seedprofile.py:seed",
    ),
    "it looks only at what it is given": (
        "banks/services/banks.py:name_key",
        "banks/services/banks.py:remembered_banks",
        "memories/search/filtering.py:is_recallable",
        "memories/search/candidates.py:allowed",
        "memories/search/candidates.py:run",
        "memories/search/features.py:features",
        "memories/search/ranking.py:best_units",
        "memories/search/windows.py:directions",
        "memories/search/windows.py:windows_of",
        "memories/search/reading.py:with_relations",
        "memories/services/contention.py:despite_deadlocks",
        "memories/services/contention.py:is_deadlock",
        "memories/services/preparing.py:check_length",
        "memories/services/preparing.py:identity_of",
        "memories/services/superseding.py:succeeding",
        "memories/services/revising.py:broken_constraint",
        "memories/services/revising.py:differs",
        "memories/services/revising.py:public_name",
        "memories/services/revising.py:snapshot",
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

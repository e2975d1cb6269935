"""The census: every verb is asked for hidden things in ``test_isolation``, or is a step with a reason not to be."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from tests.contracts.tree import named, parsed, python_files
from tests.contracts.verbs import LISTING, MEMORY_BY_ID, OF_THE_VAULT, OTHERS_BY_ID

ROOMS = ("memories/services", "memories/search", "banks/services")

STEPS = {
    "it reads a conversation that was looked up, with the hub's own access narrowed to whoever spoke in it": (
        "acting_in find_facts known_bank offered_banks related_memories save_preferences list_messages"
    ),
    "it takes in or works on a conversation; its own tests say what it may touch": (
        "add_messages extract_session summarize_session erase_conversation"
    ),
    "it works on what a verb has already looked up through its Access": (
        "audit_entry record_audit pick_bank conditions narrowed matching head_of semantic_leg "
        "keyword_leg list_few documents_with_all memories_with_phrases memories_with_any holds_words holds_each "
        "read_postings read_pool graph_leg "
        "understand understand_text terms_condition forget_accesses question_of relatives visible_ids "
        "reaches_version read_events forget_deliveries is_operator webhooks_of note_answer "
        "disable conditions_then audible as_they_were open_in_order "
        "nearest_memories nearest_with_labels may_see compiled memories_by_id shares_said "
        "failed failed_filters judged_then write_facts open_changeset count_items items_of undoable_until "
        "count_staying alter_memories undo_whole find_likenesses twins_of cap_of most_of list_first_items forget_plans "
        "retry_failed "
        "all_banks tallied sampled sampling_of_facet surveyed count_without "
        "given read_surroundings step_further read_provenance read_vectors near_memories find_besides memories_out "
        "held_by "
        "pair_counts old_memories fingerprint_of summaries_of forget_summaries returning_sources"
    ),
    "it changes what a bulk change or an undo has looked up": (
        "continue_bulk_change alter_where_possible versions_around"
    ),
    "it erases what a verb has looked up, or counted for a caller who sees the whole vault": (
        "erase_rows erase_everything open_receipt sign_receipt erased_ids subject_hash close_chains forget_vectors "
        "forget_words forget_links forget_pairs forget_answers forget_revisions forget_reasons forget_items "
        "forget_calls forget_jobs forget_events forget_views forget_bulk erase_subject policy_of "
        "enforce_retention shred_vault destroy_data_keys"
    ),
    "it does the hub's own work for the vault of its job": (
        "embed_memories give_up keep_index check_updates compare_embedded settle_unchecked undo_changes "
        "reseal_memories plan_scheduled reembed_memories reindex_memories find_gaps has_gaps "
        "write_summaries has_old_memories apply_cleanup"
    ),
    "it moves the data of the whole vault, and nothing of another": (
        "start_migration begin_migration start_reseal start_reembed start_reindex migration_jobs what_can_move "
        "active_name lock_unchanged watched"
    ),
    "it keeps notes of what a verb did, or dreams of them in the hub's hands; its own tests say who may read it": (
        "note_memories note_summary forget_notes run_dream ask_nightly give_up_dream has_new_notes read_notes "
        "lines_of_version digest_of locked_document known_to readable_lines names_in"
    ),
    "it gives names of the caller's own vault for ids; its own tests say of whom": "find_names bank_names",
    "it has tests of its own, and names nothing by id": (
        "with_idempotency import_conversations reject_drafts create_bank list_migrations record_accesses "
        "try_text deep_dream restore_core_version create_webhook save_view owner_of "
        "read_statistics count_in_banks read_guard_spells read_inbox tally_writes tally_recalls count_audit_after "
        "import_vault begin_import forget_imports bring_banks identity_in held_at_once unfinished_import source_digest "
        "take_lines read_source read_received require_mem0 write_turns"
    ),
}


def verbs() -> set[str]:
    found = set()
    for path in python_files(*ROOMS):
        for node in parsed(path).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                first = node.args.args[0].arg if node.args.args else ""
                found |= {node.name} if first == "access" else set()
    assert found, named(python_files(*ROOMS)[0])
    return found


def test_every_verb_is_in_a_table():
    """S2, S7: a verb nobody asked for hidden things fails here, by name."""
    tables: list[Mapping[str, Any]] = [MEMORY_BY_ID, OTHERS_BY_ID, LISTING, OF_THE_VAULT]
    asked = {name.split()[0] for table in tables for name in table}
    steps = {name for names in STEPS.values() for name in names.split()}
    assert sorted(verbs() - asked - steps) == []
    assert sorted((asked | steps) - verbs()) == []

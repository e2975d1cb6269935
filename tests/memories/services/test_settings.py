"""Settings: the narrowest level that says something holds, and a write obeys it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry, SettingValue
from banks.services.agents import create_agent
from banks.services.banks import UnknownBank, find_bank
from banks.services.drafts import AgentDraft
from memories.models.effective import effective_settings
from memories.rules.drafts import MemoryChanges
from memories.rules.layers import INFO, SettingInvalid
from memories.rules.settings import Level
from memories.services.editing import update_memory
from memories.services.settings import read_settings, write_setting
from memoryhub.lib.errors import Invalid
from tests.factories import access_of, make_key, remember, write

KEY = "dedup"
PLANNED = [
    replace(info, default="team" if isinstance(info.default, str) else info.default or ["Work"])
    for info in INFO.values()
    if info.planned
]


def system(key: str, value: object) -> None:
    """What the operator sets, for every vault."""
    SettingValue.objects.create(level="system", key=key, value=value)


def agent_of(access, name: str = "scribe"):
    create_agent(access, AgentDraft.parse({"name": name}))
    return access_of(make_key(access, agent=name)[1])


def test_each_level_wins_over_the_wider_ones(access, other_access):
    """CFG-02: default, system, vault, bank, agent, request, each with its source."""
    work = find_bank(access, "Work").pk
    caller = agent_of(access)
    key = "draft_threshold"
    steps = [
        (lambda: None, "untrusted", "default"),
        (lambda: system(key, "inferred"), "inferred", "system"),
        (lambda: write_setting(access, Level.VAULT, key, "stated"), "stated", "vault"),
        (lambda: write_setting(access, Level.BANK, key, "verified", "Work"), "verified", "bank"),
        (lambda: write_setting(access, Level.AGENT, key, "inferred", "scribe"), "inferred", "agent"),
    ]
    for step, value, source in steps:
        step()
        assert effective_settings(caller, work)[key] == (value, source)
    assert effective_settings(caller)[key] == ("inferred", "agent")
    assert effective_settings(access, work)[key] == ("verified", "bank")
    assert effective_settings(access)[key] == ("stated", "vault")
    assert effective_settings(other_access)[key] == ("inferred", "system")
    asked = effective_settings(access, request={"search_top_k": 3})
    assert asked["search_top_k"] == (3, "request")


def test_taking_a_value_back_shows_the_wider_one(access):
    """CFG-02: under its own name or the one of the original systems."""
    system("search_top_k", 20)
    write_setting(access, Level.VAULT, "search_top_k", 30)
    assert read_settings(access)["search_top_k"].value == 30
    assert write_setting(access, Level.VAULT, "topK", None) == (20, "system")
    write_setting(access, Level.VAULT, "deduplicate_memories", False)
    assert write_setting(access, Level.VAULT, "deduplicate_memories", None) == (True, "default")
    assert SettingValue.objects.filter(vault=access.vault).count() == 0


def test_a_value_replaces_the_one_before(access):
    """CFG-02: one row per level, target and key; each change is audited in ids."""
    for value in (30, 40):
        write_setting(access, Level.VAULT, "search_top_k", value)
    assert SettingValue.objects.get().value == 40
    assert AuditEntry.objects.filter(action="write_setting").count() == 2


REFUSED = {
    "unknown key": (Level.VAULT, "no_such_key", 1, None),
    "unknown key taken back": (Level.VAULT, "no_such_key", None, None),
    "below": (Level.VAULT, "search_top_k", 0, None),
    "above": (Level.VAULT, "dedup_skip_threshold", 1.01, None),
    "negative days": (Level.VAULT, "cleanup_stale_days", -1, None),
    "not a number": (Level.VAULT, "search_threshold", float("nan"), None),
    "a boolean as a number": (Level.VAULT, "search_top_k", True, None),
    "text as a boolean": (Level.VAULT, "dedup", "yes", None),
    "unknown word": (Level.VAULT, "min_trust", "high", None),
    "minimum above maximum": (Level.VAULT, "dedup_supersede_threshold", 0.95, None),
    "too wide a level": (Level.SYSTEM, "search_top_k", 5, None),
    "too narrow a level": (Level.BANK, "search_top_k", 5, "Work"),
    "no target": (Level.BANK, "dedup", False, None),
    "a request is not stored": (Level.REQUEST, "search_top_k", 5, None),
    "a target of the vault": (Level.VAULT, "dedup", False, "0192f0c1-2345-7000-8000-000000000000"),
    "a bank for the vault": (Level.VAULT, "dedup", False, "Work"),
    **{f"nothing reads {info.key}": (Level.VAULT, info.key, info.default, None) for info in PLANNED},
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused(access, case):
    """CFG-03: at save, with a pointer, and nothing is stored."""
    level, key, value, target = case
    with pytest.raises(SettingInvalid) as caught:
        write_setting(access, level, key, value, target)
    assert caught.value.errors
    assert not SettingValue.objects.exists()


def test_another_vaults_bank_is_unknown(access, other_access):
    """CFG-03: by id as by name."""
    theirs = find_bank(other_access, "Work")
    with pytest.raises(UnknownBank):
        write_setting(access, Level.BANK, KEY, False, str(theirs.pk))


def test_changing_needs_its_scope_and_looking_does_not(access):
    """CFG-02: readers see every effective value."""
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    assert read_settings(reader)[KEY] == (True, "default")
    with pytest.raises(MissingScope):
        write_setting(reader, Level.VAULT, KEY, False)


def test_values_that_are_no_longer_acceptable_are_passed_over(access):
    """CFG-03: a row from before a bound was tightened, or of a key that is gone, breaks nothing."""
    for key, value in [("search_top_k", 10_000), ("of_another_time", 1), ("dedup", "perhaps")]:
        SettingValue.objects.create(vault=access.vault, level="vault", key=key, value=value)
    settings = effective_settings(access)
    assert (settings["search_top_k"], settings["dedup"]) == ((10, "default"), (True, "default"))
    assert write(access).outcome == "created"


def test_a_write_obeys_each_level(access):
    """CFG-02, CON-30: vault, bank, agent and the request itself, narrower first."""

    def stored_twice(caller, **more) -> bool:
        text = f"said by {caller.actor.id} {more}"
        return len({write(caller, text, **more).memory.pk for _ in range(2)}) == 2

    caller = agent_of(access)
    assert not stored_twice(caller)
    write_setting(access, Level.VAULT, KEY, False)
    assert stored_twice(caller, user_id="vault off")
    write_setting(access, Level.BANK, KEY, True, "Work")
    assert not stored_twice(caller, bank="Work")
    assert stored_twice(caller, bank="Health")
    write_setting(access, Level.AGENT, KEY, False, "scribe")
    assert stored_twice(caller, bank="Work", user_id="agent off")
    assert not stored_twice(caller, bank="Work", dedup=True)


def test_a_bank_may_take_shorter_texts_and_look_first(access):
    """CFG-02: a bank's own length and threshold hold for writes into it and edits in it, not elsewhere."""
    write_setting(access, Level.BANK, "content_max_length", 10, "Work")
    write_setting(access, Level.BANK, "draft_threshold", "stated", "Work")
    long = "more than ten characters"
    with pytest.raises(Invalid):
        write(access, long, bank="Work")
    assert write(access, long, bank="Health").memory.status == "accepted"
    short = remember(access, "short", bank="Work")
    assert short.status == "draft"
    with pytest.raises(Invalid):
        update_memory(access, short.pk, MemoryChanges.parse({"content": long}))
    moved = update_memory(access, short.pk, MemoryChanges.parse({"content": f"{long} here", "bank": "Health"}))
    assert moved.content == f"{long} here"


def test_a_change_counts_for_the_very_next_write(access):
    """CFG-02: what a process remembers is never older than the last change, whoever made it."""
    assert write(access, "said").outcome == "created"
    write_setting(access, Level.VAULT, KEY, False)
    assert write(access, "said").outcome == "created"
    SettingValue.objects.all().delete()
    assert write(access, "said").outcome == "duplicate"
    system(KEY, False)
    assert write(access, "said").outcome == "created"

"""Pruning at a limit: who goes, who stays, and that it can be taken back."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.models import AuditEntry
from memories.models import Changeset, Memory, Revision
from memories.rules.settings import Level
from memories.services.lifecycle import archive_memory
from memories.services.settings import write_setting
from memories.services.writing import write_batch
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError
from memoryhub.lib.metrics import MEMORIES_PRUNED, PRUNING_SHORT
from tests.factories import draft, remember, write

WORDS = "heron boiler cello lease orchid router wedding invoice glacier pottery bakery ferry".split()


@pytest.fixture
def limited(access):
    write_setting(access, Level.VAULT, "max_total_memories", 5)
    return access


def fill(access, count: int = 5, **more) -> list[Memory]:
    """Memories an hour apart, the oldest first."""
    memories = [remember(access, f"The {word} is on the list.", **more) for word in WORDS[:count]]
    for age, memory in enumerate(reversed(memories), start=1):
        Memory.objects.filter(pk=memory.pk).update(created_at=now() - dt.timedelta(hours=age))
    return memories


def live() -> set[str]:
    return {memory.content for memory in Memory.objects.live()}


def archived() -> list[Memory]:
    return list(Memory.objects.filter(archived_at__isnull=False))


def test_up_to_the_limit_nothing_goes(limited):
    """PRN-11: 4 + 1 fits."""
    fill(limited, 4)
    remember(limited, "Something new.")
    assert archived() == []


def test_at_the_limit_the_oldest_goes(limited):
    """PRN-02, PRN-03, PRN-11, TST-08: the new one is there, the total is kept."""
    oldest, *_ = fill(limited)
    remember(limited, "Something new.")
    assert [memory.pk for memory in archived()] == [oldest.pk]
    assert "Something new." in live()
    assert len(live()) == 5


def test_pruned_is_archived_with_its_history_and_comes_back(limited):
    """PRN-14, CON-17, MIG-13: a version, an audit row, a changeset, a reason; nothing is deleted."""
    oldest, *_ = fill(limited)
    remember(limited, "Something new.")
    pruned = Memory.objects.get(pk=oldest.pk)
    assert (pruned.archived_reason, pruned.version) == ("pruned: fifo", 2)
    revision, changeset = Revision.objects.get(), Changeset.objects.get()
    assert (revision.memory_id, revision.version, revision.changeset_id) == (oldest.pk, 1, changeset.pk)
    assert [item.memory_id for item in changeset.items.all()] == [oldest.pk]
    assert AuditEntry.objects.get(action="prune_memories").target_id == oldest.pk
    assert archive_memory(limited, oldest.pk, archived=False).content == oldest.content


@pytest.mark.parametrize("strategy", ["oldest_accessed", "lru"])
def test_what_was_recalled_longest_ago_goes(limited, strategy):
    """PRN-05, PRN-13, CON-13: never recalled counts from when it was written."""
    write_setting(limited, Level.VAULT, "pruning_strategy", strategy)
    first, second, *_ = fill(limited)
    Memory.objects.filter(pk=first.pk).update(last_accessed_at=now())
    remember(limited, "Something new.")
    assert [memory.pk for memory in archived()] == [second.pk]


def test_what_is_farthest_from_the_new_one_goes(limited):
    """PRN-04: regardless of age."""
    write_setting(limited, Level.VAULT, "pruning_strategy", "least_relevant")
    texts = ["Dogs bark at night.", "The puppy chews shoes.", "Our dog likes long walks.", "The dog park is near."]
    for text in texts:
        remember(limited, text)
    odd = remember(limited, "Quarterly tax forms are due.")
    remember(limited, "The old dog sleeps all day.")
    assert [memory.pk for memory in archived()] == [odd.pk]


@pytest.mark.parametrize("reserved", [{"is_protected": True}, {"type": "constraint"}, {"type": "correction"}])
def test_the_reserved_stay_and_the_write_succeeds(limited, reserved):
    """PRN-08, PRN-12, DEF-20: a soft limit, with a warning that is counted; the newcomer is the last to go."""
    fill(limited, **reserved)
    before = PRUNING_SHORT._value.get()
    write(limited, "Something new.", **reserved)
    assert archived() == []
    assert len(live()) == 6
    assert PRUNING_SHORT._value.get() == before + 1


def test_each_user_has_a_limit(limited):
    """CON-12: nobody's memories make room for another's."""
    fill(limited, user_id="ada")
    remember(limited, "Something of Omar.", user_id="omar")
    assert archived() == []


def test_facts_of_a_namespace_have_a_limit_of_their_own(access):
    """CON-12, DEG-06, GEN-07: each limit works by itself; other types do not count."""
    write_setting(access, Level.VAULT, "max_facts", 3)
    fill(access, 3)
    remember(access, "Likes long walks by the sea.", type="preference")
    remember(access, "Another namespace.", namespace=["team"])
    assert archived() == []
    remember(access, "Something new.")
    assert len(archived()) == 1


def test_the_preset_seed_sets_both(access):
    """GEN-07, GEN-12: 200 and 500, and a vault may say otherwise."""
    write_setting(access, Level.VAULT, "preset", "seed")
    write_setting(access, Level.VAULT, "max_total_memories", 3)
    fill(access, 4)
    assert len(live()) == 3


def test_a_batch_makes_room_once(limited):
    """PRN-06: what came in first goes first, old before new; counted by strategy."""
    before = MEMORIES_PRUNED.labels("fifo")._value.get()
    fill(limited)
    results = write_batch(limited, [draft(f"The {word} is new.") for word in WORDS[5:9]])
    assert not any(isinstance(result, HubError) for result in results)
    assert len(live()) == 5
    assert {f"The {word} is new." for word in WORDS[5:9]} <= live()
    assert MEMORIES_PRUNED.labels("fifo")._value.get() == before + 4


def test_without_limits_nothing_is_counted_or_pruned(access, django_assert_max_num_queries):
    """The shipped default."""
    fill(access, 12)
    with django_assert_max_num_queries(14):
        remember(access, "Something new.")
    assert archived() == []

"""What says nearly the same, and what is decided about it."""

from __future__ import annotations

import pytest

from banks.access import Access
from memories.models import DuplicatePair, Memory
from memories.services.duplicates import reopen_pair
from memories.services.nearness import decide_near, near_memories
from memoryhub.lib.errors import Invalid, NotFound
from tests.factories import remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def twins(access: Access) -> tuple[Memory, Memory]:
    one = remember(access, "Anna drinks her coffee with oat milk in the morning.")
    other = remember(access, "Anna drinks her coffee with oat milk every morning.", dedup=False)
    remember(access, "The boiler was serviced in March.")
    return one, other


def test_the_nearest_first_without_strangers(access: Access, twins: tuple[Memory, Memory]):
    one, other = twins
    found = near_memories(access, one)
    assert [near.memory.pk for near in found.items] == [other.pk]
    assert 0.8 < found.items[0].similarity <= 1.0
    assert found.has_vector


def test_a_decision_is_remembered_and_can_be_taken_back(access: Access, twins: tuple[Memory, Memory]):
    one, other = twins
    pair = decide_near(access, one.pk, other.pk)
    assert pair.state == "not_duplicate"
    found = near_memories(access, other)
    assert (found.items, found.settled) == ([], 1)
    reopen_pair(access, pair.pk)
    assert near_memories(access, one).items


@pytest.mark.parametrize("stays", [0, 1])
def test_the_one_that_stays_replaces_the_other(access: Access, twins: tuple[Memory, Memory], stays: int):
    kept, gone = twins[stays], twins[1 - stays]
    pair = decide_near(access, twins[0].pk, twins[1].pk, kept.pk)
    gone.refresh_from_db()
    assert (gone.superseded_by_id, gone.archived) == (kept.pk, True)
    assert near_memories(access, kept).items == []
    reopen_pair(access, pair.pk)
    gone.refresh_from_db()
    assert not gone.archived


def test_a_settled_pair_is_decided_anew_in_the_same_row(access: Access, twins: tuple[Memory, Memory]):
    one, other = twins
    decide_near(access, one.pk, other.pk)
    decide_near(access, other.pk, one.pk, one.pk)
    assert DuplicatePair.objects.get().state == "superseded"


def test_a_stranger_and_itself_are_refused(access: Access, other_access: Access, twins: tuple[Memory, Memory]):
    foreign = remember(other_access, "Anna drinks her coffee with oat milk in the morning.")
    with pytest.raises(NotFound):
        decide_near(access, twins[0].pk, foreign.pk)
    with pytest.raises(Invalid):
        decide_near(access, twins[0].pk, twins[0].pk)
    assert foreign.pk not in {near.memory.pk for near in near_memories(access, twins[0]).items}


def test_without_a_vector_nothing_is_compared(access: Access, twins: tuple[Memory, Memory]):
    twins[0].embeddings.all().delete()
    assert near_memories(access, twins[0]).has_vector is False

"""A memory names others by id; nobody learns of one that he may not see by its name in another."""

from __future__ import annotations

import pytest

from banks.services.agents import create_agent
from banks.services.drafts import AgentDraft
from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.search.reading import get_memory, get_revision, list_revisions, memories_by_id
from memories.search.relatives import NONE, Relatives, relatives
from memories.services.editing import restore_version, update_memory
from memories.services.lifecycle import archive_memory
from memories.services.superseding import AlreadySuperseded
from memories.services.writing import write_successor
from memoryhub.lib.errors import NotFound
from memoryhub.lib.sealing import Sealed
from tests.conftest import ApiClient
from tests.factories import access_of, draft, make_key, remember, write


@pytest.fixture
def limited(access):
    """Reaches the bank Work alone."""
    return access_of(make_key(access, banks=["Work"])[1])


def test_a_chain_is_named_both_ways(access):
    """SUP-07, MOD-39: the latest replaced one, and the one that came after."""
    first = remember(access, "one")
    second = write(access, "two", supersedes=str(first.pk)).memory
    source = remember(access, "three")
    Memory.objects.filter(pk=source.pk).update(summarized_from=[first.pk])
    rows = Memory.objects.all()
    assert relatives(access, rows) == {
        first.pk: Relatives(superseded_by=second.pk),
        second.pk: Relatives(supersedes=first.pk),
        source.pk: Relatives(summarized_from=(first.pk,)),
    }
    assert relatives(access, []) == {}


def test_a_search_sees_who_replaced_nothing(access):
    """What was seen with the memories is not asked for once more, and is right about those that did."""
    first = remember(access, "one")
    second = write(access, "two", supersedes=str(first.pk)).memory
    plain = remember(access, "three")
    found = memories_by_id(access, [first.pk, second.pk, plain.pk])
    assert {key: row.may_replace for key, row in found.items()} == {first.pk: False, second.pk: True, plain.pk: False}
    assert relatives(access, found.values())[second.pk] == Relatives(supersedes=first.pk)


def test_whom_one_may_know_of_is_not_asked_where_nothing_is_named(access, django_assert_num_queries):
    rows = [remember(access, f"number {n}") for n in range(3)]
    with django_assert_num_queries(0):  # the statement that looks for predecessors is no query of Django's
        assert set(relatives(access, rows).values()) == {NONE}


def test_a_relative_in_another_bank_is_not_named(access, limited):
    """CON-25, BNK-02: neither what it replaced, nor what replaced it, nor what it was made of."""
    secret = remember(access, "secret", bank="Health")
    middle = write(access, "middle", bank="Work", supersedes=str(secret.pk)).memory
    newer = write(access, "newer", bank="Health", supersedes=str(middle.pk)).memory
    Memory.objects.filter(pk=middle.pk).update(summarized_from=[secret.pk])
    row = get_memory(limited, middle.pk)
    assert relatives(limited, [row]) == {middle.pk: NONE}
    (kept,) = relatives(access, [row]).values()
    assert (kept.supersedes, kept.superseded_by, kept.summarized_from) == (secret.pk, newer.pk, (secret.pk,))


def test_no_answer_over_http_names_a_hidden_one(access):
    """CON-25: read, list, search, history, and the refusal of a second successor."""
    secret = make_key(access, banks=["Work"])[1]
    old = remember(access, "the zeppelin of old", bank="Health")
    middle = write(access, "the zeppelin", bank="Work", supersedes=str(old.pk)).memory
    newer = write(access, "the zeppelin now", bank="Health", supersedes=str(middle.pk)).memory
    archive_memory(access, middle.pk, archived=False)
    write_successor(access, str(middle.pk), draft("the zeppelin of today", bank="Health"))
    api, everything = ApiClient(secret), {"query": "zeppelin", "include_archived": True}
    head = Memory.objects.get(pk=middle.pk).superseded_by_id
    for method, path, body in (
        ("GET", f"/memories/{middle.pk}", None),
        ("GET", "/memories?archived=any", None),
        ("POST", "/memories/search", everything),
        ("POST", "/memories/read", {"ids": [str(middle.pk)]}),
        ("GET", f"/memories/{middle.pk}/chain", None),
        ("GET", f"/memories/{middle.pk}/revisions", None),
        ("POST", f"/memories/{middle.pk}/supersede", {"content": "another"}),
        ("PATCH", f"/memories/{middle.pk}", {"importance": 5}),
    ):
        answer = api.send(method, path, body)
        assert answer.status_code in {200, 409}, path
        for hidden in (old.pk, newer.pk, head):
            assert str(hidden) not in answer.content.decode(), path


def test_the_refusal_names_the_head_to_those_who_see_it(access, limited):
    """SUP-07."""
    old = remember(access, "old", bank="Work")
    head = write(access, "new", bank="Health", supersedes=str(old.pk)).memory
    for who, told in ((access, {"head_id": str(head.pk)}), (limited, {})):
        with pytest.raises(AlreadySuperseded) as caught:
            write_successor(who, str(old.pk), draft("third", bank="Work"))
        assert caught.value.extra == told


def moved(access, **changes):
    """A memory that lay in Health and lies in Work now."""
    memory = remember(access, "the diagnosis", bank="Health")
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "the appointment", "bank": "Work"}))
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "the appointment is at ten", **changes}))
    return memory


def test_history_from_another_bank_is_not_shown(access, limited):
    """BNK-02, MIG-13: neither listed, nor read by its number, nor brought back."""
    memory = moved(access)
    assert [kept.version for kept in list_revisions(access, memory.pk)] == [2, 1]
    (kept,) = list_revisions(limited, memory.pk)
    assert (kept.version, kept.before["content"]) == (2, "the appointment")
    for verb in (get_revision, restore_version):
        with pytest.raises(NotFound) as hidden:
            verb(limited, memory.pk, 1)
        with pytest.raises(NotFound) as unknown:
            verb(limited, memory.pk, 7)
        assert hidden.value.message.replace("1", "7") == unknown.value.message
    assert restore_version(limited, memory.pk, 2).content == "the appointment"
    assert restore_version(access, memory.pk, 1).content == "the diagnosis"


def test_history_that_does_not_open_is_for_those_who_reach_every_bank(access, limited):
    """ENC-20: where it lay is sealed with it."""
    memory = moved(access)
    for kept in list_revisions(access, memory.pk):
        type(kept).objects.filter(pk=kept.pk).update(before=Sealed(b"M\x01broken"))
    assert len(list_revisions(access, memory.pk)) == 2
    assert list_revisions(limited, memory.pk) == []


def test_an_agent_s_own_memories_are_not_named_to_another(access):
    """MOD-25: scope agent."""
    create_agent(access, AgentDraft.parse({"name": "neighbour"}))
    old = remember(access, "shared")
    write(access, "private", supersedes=str(old.pk), scope="agent", agent_id="somebody")
    neighbour = access_of(make_key(access, agent="neighbour")[1])
    assert relatives(neighbour, [get_memory(neighbour, old.pk)])[old.pk].superseded_by is None

"""The tables hold the rules by themselves: raw SQL that breaks one is refused."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from banks.models import Bank
from memories.models import Link, Memory
from memories.models.history import Revision
from memories.models.retrieval import VaultSpace
from memoryhub.lib.clock import now
from memoryhub.lib.crypto import new_key
from tests.factories import remember, write

#: Columns of a memory and values no row may ever have.
REFUSED: dict[str, tuple[str, Any]] = {
    "importance 0": ("importance", 0),
    "importance 6": ("importance", 6),
    "confidence 0": ("confidence", 0),
    "confidence 6": ("confidence", 6),
    "importance nothing": ("importance", None),
    "unknown status": ("status", "archived"),
    "no status": ("status", None),
    "unknown type": ("type", "opinion"),
    "a type in capitals": ("type", "Fact"),
    "unknown category": ("category", "misc"),
    "empty category": ("category", ""),
    "unknown role": ("role", "user"),
    "unknown trust": ("trust", "high"),
    "no vault": ("vault_id", None),
    "no content": ("content", None),
}


@pytest.mark.parametrize("column, value", REFUSED.values(), ids=REFUSED.keys())
def test_values_outside_the_vocabulary_are_refused(access, column, value):
    """MOD-26, MOD-28, MOD-29, STA-01: by the database, whoever writes."""
    memory = remember(access)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE memories_memory SET {column} = %s WHERE id = %s", [value, memory.pk])


@pytest.mark.parametrize("value", [2.5, 40_000])
def test_a_fraction_is_rounded_or_refused_never_kept(access, value):
    """MOD-28: the column is an integer from 1 to 5."""
    memory = remember(access)
    with connection.cursor() as cursor:
        try:
            with transaction.atomic():
                cursor.execute("UPDATE memories_memory SET importance = %s WHERE id = %s", [value, memory.pk])
        except Exception as error:
            assert type(error).__name__ in {"DataError", "IntegrityError"}
        cursor.execute("SELECT importance FROM memories_memory WHERE id = %s", [memory.pk])
        assert cursor.fetchone()[0] in {2, 3}


def duplicate(memory: Memory, **changed: Any) -> None:
    """A second row like the first, by SQL, with a new id and document number."""
    columns = [str(field.column) for field in Memory._meta.concrete_fields if field.column not in {"id", "doc_no"}]
    given = {"external_write_id": None, **changed}
    copied = [column for column in columns if column not in given]
    names = ", ".join(["id", "doc_no", *given, *copied])
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO memories_memory ({names}) SELECT gen_random_uuid(), 1000000 + (random() * 1000000)::int, "
            f"{', '.join(['%s'] * len(given) + copied)} FROM memories_memory WHERE id = %s",
            [*given.values(), memory.pk],
        )


def test_one_external_write_id_per_vault(access, other_access):
    """IDM-02: enforced by the database; the same id in another vault is another memory; none is no id."""
    memory = remember(access, "one", external_write_id="agent:run:1")
    with pytest.raises(IntegrityError, match="memory_external_write_id"), transaction.atomic():
        duplicate(memory, external_write_id="agent:run:1", content_hash=None)
    assert remember(other_access, "one", external_write_id="agent:run:1").pk != memory.pk
    duplicate(memory, content_hash=None)
    duplicate(memory, content_hash=None)


@pytest.mark.parametrize("user", [None, "ada"])
def test_one_live_row_per_content(access, user):
    """DUP-25, DEF-15: per vault, user, type, namespace; also where the user is nobody (NULLS NOT DISTINCT)."""
    memory = remember(access, "the same", user_id=user)
    with pytest.raises(IntegrityError, match="memory_live_in_bank"), transaction.atomic():
        duplicate(memory)


ELSEWHERE: dict[str, dict[str, Any]] = {
    "another user": {"user_id": "grace"},
    "another type": {"type": "skill"},
    "another namespace": {"namespace": ["default", "team"]},
    "another scope": {"scope": "agent"},
    "another agent's own": {"dedup_agent": "a1"},
    "archived": {"archived_at": now()},
    "discarded": {"status": "discard"},
    "dedup off": {"content_hash": None},
    "another content": {"content_hash": new_key()[:16]},
}


@pytest.mark.parametrize("changed", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_what_is_not_the_same_may_stand_beside_it(access, changed):
    """DUP-01, CON-08: tombstones and other scopes do not block."""
    duplicate(remember(access, "the same"), **changed)
    assert Memory.objects.count() == 2


def test_dedup_off_stores_the_same_text_twice(access):
    """CON-30: `dedup: false` keeps no hash, so the same text may stand twice, beside the one written with it on."""
    ids = {write(access, "the same", dedup=flag).memory.pk for flag in (True, False, False)}
    assert len(ids) == 3
    assert Memory.objects.filter(content_hash=None).count() == 2


def test_no_memory_is_its_own_successor(access):
    """SUP-07: the shortest cycle is refused by the database."""
    memory = remember(access)
    with pytest.raises(IntegrityError, match="not_its_own_successor"), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(superseded_by=memory.pk)


def test_no_memory_is_linked_to_itself(access):
    """MOD-41: nor by an unknown relation, nor twice."""
    one, two = remember(access, "one"), remember(access, "two")
    for values in ({"target": one, "relation": "related"}, {"target": two, "relation": "likes"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Link.objects.create(vault=access.vault, source=one, **values)
    Link.objects.create(vault=access.vault, source=one, target=two, relation="related")
    with pytest.raises(IntegrityError), transaction.atomic():
        Link.objects.create(vault=access.vault, source=one, target=two, relation="related")


def test_every_memory_has_a_document_number_of_its_own(access, other_access):
    """DESIGN §5: integer, per vault, never given twice."""
    numbers = [remember(access, f"number {n}").doc_no for n in range(5)]
    assert len(set(numbers)) == 5
    assert remember(other_access, "first").doc_no == 0
    with pytest.raises(IntegrityError, match="memory_doc_no"), transaction.atomic():
        Memory.objects.filter(doc_no=numbers[0], vault=access.vault).update(doc_no=numbers[1])


def test_a_version_is_kept_once(access):
    """MIG-13: two changes cannot both claim to come after the same version."""
    memory = remember(access)
    keep = {"vault": access.vault, "memory": memory, "version": 1, "before": {}, "action": "x", "actor_kind": "system"}
    Revision.objects.create(**keep)
    with pytest.raises(IntegrityError), transaction.atomic():
        Revision.objects.create(**keep)


def test_one_active_space_per_vault(access):
    """DEG-13: a vault searches in one space at a time."""
    remember(access)
    space = VaultSpace.objects.get(vault=access.vault, is_active=True).space
    with pytest.raises(IntegrityError), transaction.atomic():
        VaultSpace.objects.create(vault=access.vault, space=space)


def test_one_default_bank_per_vault_and_it_is_visible(access):
    """BNK-01: always exactly somewhere to put a memory."""
    for changes in ({"name": "Work", "is_default": True}, {"name": "General", "is_hidden": True}):
        name = changes.pop("name")
        with pytest.raises(IntegrityError), transaction.atomic():
            Bank.objects.filter(vault=access.vault, name=name).update(**changes)


def test_a_memory_is_removed_with_its_index(access):
    """MOD-46: deleting the row leaves no vector and no token, and nothing can be left without its row."""
    memory = remember(access)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="same_vault"), transaction.atomic():
            cursor.execute("DELETE FROM memories_memory WHERE id = %s", [memory.pk])


def test_times_have_a_zone(access):
    """MOD-47: aware, UTC, in Python and in the database."""
    memory = Memory.objects.get(pk=remember(access).pk)
    for moment in (memory.created_at, memory.updated_at):
        assert moment.utcoffset() == dt.timedelta(0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM information_schema.columns WHERE table_name LIKE 'memories_%' "
            "AND data_type = 'timestamp without time zone'"
        )
        assert cursor.fetchone() == (0,)

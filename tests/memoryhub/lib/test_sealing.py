"""Sealed fields on real rows: where ciphertext opens, where it does not, and that nothing writes plain text."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from django.apps import apps
from django.core import serializers
from django.core.exceptions import FieldError
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.state import ModelState, StateApps

from memories.models import Changeset, Memory, Revision
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, Presence
from memories.search.listing import list_memories
from memories.services.editing import update_memory
from memories.services.lifecycle import archive_memory
from memoryhub.lib.crypto import NONCE_BYTES, OVERHEAD_BYTES, CryptoError, DecryptionError, UnknownKey
from memoryhub.lib.sealing import NotSealed, Sealed, SealedField, gate
from tests.factories import operator, remember

TEXT = "The safe is behind the painting; Grüße, 世界 🎉"


def stored(row: models.Model, column: str = "content") -> bytes:
    """The bytes as the database holds them."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {row._meta.db_table} WHERE id = %s", [row.pk])
        return bytes(cursor.fetchone()[0])


def store(row: models.Model, data: bytes, column: str = "content") -> None:
    """Put bytes there past every model."""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {row._meta.db_table} SET {column} = %s WHERE id = %s", [data, row.pk])


def reread[M: models.Model](row: M) -> M:
    return type(row)._default_manager.get(pk=row.pk)


def sealed_fields() -> list[SealedField]:
    found = [field for model in apps.get_models() for field in model._meta.get_fields()]
    return [field for field in found if isinstance(field, SealedField)]


@pytest.mark.parametrize("text", [TEXT, "x", "line\nline\ttab", "\u202eright to left", "é" * 50_000])
def test_content_comes_back_exactly(access, text):
    """ENC-04, TST-03: what is read is what was written, to the last character."""
    assert reread(remember(access, text)).content == text


def test_the_raw_row_holds_no_plain_text(access):
    """ENC-03: the database sees an envelope."""
    raw = stored(remember(access, "pistachio"))
    assert b"pistachio" not in raw
    assert raw[:2] == b"M\x01"
    assert len(raw) == len("pistachio") + OVERHEAD_BYTES


def test_equal_texts_are_sealed_to_different_bytes(access):
    """CON-01: nobody sees from the rows that two memories say the same."""
    first, second = (remember(access, "the same words", dedup=False) for _ in range(2))
    assert first.pk != second.pk
    assert stored(first) != stored(second)


def test_ciphertext_moved_to_another_row_does_not_open(access):
    """CON-01: swapping two rows' ciphertexts fails to decrypt."""
    one, two = remember(access, "one"), remember(access, "two")
    raw_one, raw_two = stored(one), stored(two)
    store(one, raw_two)
    store(two, raw_one)
    for row in (one, two):
        with pytest.raises(DecryptionError):
            _ = reread(row).content


def test_ciphertext_moved_to_another_field_does_not_open(access):
    """CON-01: a reason put where content belongs stays shut, and the other way round."""
    memory = archive_memory(access, remember(access, "the content").pk, reason="the reason")
    content, reason = stored(memory), stored(memory, "archived_reason")
    store(memory, reason)
    store(memory, content, "archived_reason")
    for name in ("content", "archived_reason"):
        with pytest.raises(DecryptionError):
            getattr(reread(memory), name)


def test_ciphertext_moved_to_another_model_does_not_open(access):
    """CON-01: not even between columns of one name, in rows of one id, in one vault."""
    memory = remember(access, "first")
    update_memory(access, memory.pk, MemoryChanges.parse({"content": "second", "reason": "because"}))
    revision = Revision.objects.get(memory=memory)
    changeset = Changeset(pk=revision.pk, vault=access.vault, action="x", actor_kind="system", reason="other")
    changeset.save(force_insert=True)
    store(changeset, stored(revision, "reason"), "reason")
    assert reread(revision).reason == "because"
    with pytest.raises(DecryptionError):
        _ = reread(changeset).reason


def test_a_row_moved_to_another_vault_does_not_open(access, other_vault):
    """ENC-18: whoever re-homes a row with SQL gets nothing, with both vaults unlocked, and even had they one key."""
    memory = remember(access, TEXT)
    for keys in (operator(other_vault).keys, access.keys):
        gate.unlock(other_vault.pk, keys)
        moved = reread(memory)
        moved.vault_id = other_vault.pk
        with pytest.raises(DecryptionError):
            _ = moved.content
    assert reread(memory).content == TEXT


REGIONS = {
    "magic": 0,
    "algorithm": 1,
    "flags": 6,
    "nonce": 7,
    "first byte of the text": 7 + NONCE_BYTES,
    "tag": -1,
    "first byte of the tag": -16,
}


@pytest.mark.parametrize("place", REGIONS.values(), ids=REGIONS.keys())
def test_a_flipped_bit_is_noticed(access, place):
    """ENC-14: in every region of the envelope."""
    memory = remember(access, TEXT)
    raw = bytearray(stored(memory))
    raw[place] ^= 1
    store(memory, bytes(raw))
    with pytest.raises(DecryptionError):
        _ = reread(memory).content


def test_an_unknown_key_version_is_named(access):
    """ENC-18: a ciphertext of a data key that is gone says which one."""
    memory = remember(access, TEXT)
    raw = bytearray(stored(memory))
    raw[5] = 9
    with pytest.raises(IntegrityError), transaction.atomic():
        store(memory, bytes(raw))  # nor does the database take one
    memory.content = Sealed(bytes(raw))
    with pytest.raises(UnknownKey, match="version 9"):
        _ = memory.content


def test_one_broken_row_leaves_the_list_readable(access):
    """ENC-20, DEF-10: the list comes, every other row opens, only the broken one does not."""
    memories = [remember(access, f"number {n}") for n in range(5)]
    store(memories[2], b"M\x01garbage")
    page = list_memories(access, MemoryFilter(archived=Presence.ANY))
    assert page.total == len(page.items) == 5
    readable, broken = [], []
    for row in page.items:
        try:
            readable.append(row.content)
        except DecryptionError:
            broken.append(row.pk)
    assert broken == [memories[2].pk]
    assert sorted(readable) == ["number 0", "number 1", "number 3", "number 4"]


def test_a_list_that_shows_no_content_decrypts_nothing(access, monkeypatch):
    """ENC-20: opening is lazy."""
    remember(access, TEXT)
    opened = []
    monkeypatch.setattr(SealedField, "open", lambda self, *_: opened.append(self.attname))
    page = list_memories(access, MemoryFilter())
    assert [row.type for row in page.items] == ["fact"]
    assert opened == []


def test_nothing_is_written_around_the_field(access):
    """ENC-19: update(), bulk_update() and expressions cannot put plain text into the column."""
    memory = remember(access, TEXT)
    before = stored(memory)
    memory.content = "plain"
    attempts: list[Callable[[], object]] = [
        lambda: Memory.objects.filter(pk=memory.pk).update(content="plain"),
        lambda: Memory.objects.bulk_update([memory], ["content"]),
        lambda: Memory.objects.filter(pk=memory.pk).update(
            content=models.Value("plain", output_field=Memory._meta.get_field("content"))
        ),
        lambda: Memory.objects.filter(pk=memory.pk).update(content=b"plain"),
    ]
    for attempt in attempts:
        with pytest.raises(NotSealed), transaction.atomic():
            attempt()
    assert stored(memory) == before


def test_content_cannot_be_searched_for(access):
    """ENC-12: no lookup on a sealed column; only its being empty can be asked."""
    remember(access, TEXT)
    for lookup in ("content", "content__contains", "content__iexact", "content__startswith"):
        with pytest.raises(FieldError):
            Memory.objects.filter(**{lookup: "safe"}).exists()
    assert Memory.objects.filter(archived_reason__isnull=True).count() == 1


def test_rows_taken_as_values_show_nothing(access):
    """ENC-21: values() and repr() give a sealed thing that prints its length only."""
    memory = remember(access, TEXT)
    (value,) = Memory.objects.values_list("content", flat=True)
    assert type(value).__name__ == "Sealed"
    assert "safe" not in f"{value!r} {memory!r} {memory}"


def test_dumpdata_is_refused(access):
    """ENC-21: Django's serialisers cannot leak content, with the vault open or shut."""
    memory = remember(access, TEXT)
    with pytest.raises(NotSealed):
        serializers.serialize("json", [reread(memory)])
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("dumpdata", "memories", stdout=out)
    assert "safe" not in out.getvalue()


def test_a_row_saved_unread_keeps_its_ciphertext(access):
    """ENC-18: touching a label neither opens nor seals anew, read or not, while the text itself is unchanged."""
    memory = remember(access, TEXT)
    raw = stored(memory)
    unread = reread(memory)
    unread.importance = 5
    unread.save()
    assert stored(memory) == raw
    read = reread(memory)
    assert read.content == TEXT
    read.save()
    assert stored(memory) == raw
    read.content = "other"
    read.save()
    assert stored(memory) != raw
    assert reread(memory).content == "other"


def test_a_failure_to_encrypt_aborts_the_write(access, monkeypatch):
    """ENC-19: no row, no index, no audit, and certainly no plain text."""

    def fail(*_: object) -> bytes:
        raise CryptoError("the cipher is broken")

    monkeypatch.setattr("memoryhub.lib.crypto.seal", fail)
    with pytest.raises(CryptoError):
        remember(access, TEXT)
    with connection.cursor() as cursor:
        for table in ("memories_memory", "memories_memoryindex", "memories_embedding"):
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone() == (0,), table


def test_null_stays_null(access):
    """MOD-13: nothing is sealed where nothing is."""
    memory = reread(remember(access, TEXT))
    assert memory.archived_reason is None
    assert Memory.objects.filter(archived_reason__isnull=True).exists()


def test_every_sealed_model_can_bind_its_rows():
    """ENC-18: a sealed field needs a UUID made before the save and a vault; a model without them would fail later."""
    assert {field.model._meta.label for field in sealed_fields()} >= {"memories.Memory", "memories.Revision"}
    for field in sealed_fields():
        key = field.model._meta.pk
        assert isinstance(key, models.UUIDField), field.model
        assert key.has_default(), field.model
        assert field.model._meta.get_field("vault").is_relation


def test_the_models_of_migrations_seal_and_open_too(access):
    """MIG-12: a data migration sees historical models; their fields behave alike and are bound to the same place."""
    memory = remember(access, TEXT)
    historical = StateApps([], {})
    for model in (Memory, Revision):
        for field in model._meta.get_fields():
            if isinstance(field, SealedField):
                name, path, args, kwargs = field.deconstruct()
                assert path == f"memoryhub.lib.sealing.{type(field).__name__}"
                assert type(field.clone()) is type(field)
                assert (name, args) == (field.name, [])
                assert "key" not in kwargs
    states = [ModelState.from_model(model) for model in apps.get_models() if model._meta.app_label != "admin"]
    historical.render_multiple(states)
    old = historical.get_model("memories", "Memory").objects.get(pk=memory.pk)
    assert old.content == TEXT
    old.content = "changed by a migration"
    old.save()
    assert reread(memory).content == "changed by a migration"
    assert b"changed" not in stored(memory)


def test_a_deferred_column_opens_when_it_is_fetched(access):
    """ENC-04: lists defer content; asking for it later fetches and opens it."""
    memory = Memory.objects.defer("content").get(pk=remember(access, TEXT).pk)
    assert memory.content == TEXT
    memory.refresh_from_db()
    assert memory.content == TEXT

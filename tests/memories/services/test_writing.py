"""The write path: what each write did, and that it left exactly one memory behind."""

from __future__ import annotations

import datetime as dt

import pytest

from banks.access import KeyScope
from banks.access.access import MissingScope
from banks.models import AuditEntry
from banks.services.banks import UnknownBank
from memories.models import Embedding, Memory, MemoryIndex, Revision
from memories.rules.drafts import MemoryDraft
from memories.rules.vocabulary import MemoryType, Outcome, Status
from memories.services.writing import WriteResult, write_batch, write_memory
from memoryhub.lib.clock import now
from memoryhub.lib.errors import HubError, Invalid, NotFound
from memoryhub.lib.ids import new_id
from tests.factories import access_of, draft, make_key, remember, write


def test_a_memory_is_written_and_reads_back(access):
    """MOD-01, MOD-30: every field as it was sent, lists in their order and case."""
    sent = {
        "type": "preference",
        "category": "user_profile",
        "role": "human",
        "bank": "personal",
        "importance": 5,
        "confidence": 1,
        "entities": ["Ada", "ada", "Tee-Ω"],
        "tags": ["Drinks", "b", "a"],
        "fact_key": "preference_tea",
        "namespace": ["org", "acme", "agent-alpha"],
        "user_id": "u-123",
        "agent_id": "a-9",
        "session_id": "s",
        "task_id": "t",
        "extra": {"nested": {"list": [1, 2.5, None, True]}},
        "external_write_id": "agent:run123:fact:nextjs-stack",
        "is_protected": True,
        "source_kind": "user_stated",
    }
    result = write(access, "Ada prefers tea over coffee.", **sent)
    assert (result.outcome, result.decided_by) == (Outcome.CREATED, "no_match")
    found = Memory.objects.get(pk=result.memory.pk)
    assert found.content == "Ada prefers tea over coffee."
    assert found.bank.name == "Personal"
    assert {name: getattr(found, name) for name in sent if name != "bank"} == {
        name: value for name, value in sent.items() if name != "bank"
    }
    assert (found.trust, found.version, found.etag) == ("stated", 1, '"v1"')


def test_what_is_not_said_has_its_default(access):
    """STA-02, MOD-02, MOD-48, BNK-01: accepted, a fact, in General, no category, no role."""
    memory = remember(access)
    said = (memory.type, memory.status, memory.category, memory.role, memory.importance, memory.confidence)
    assert said == ("fact", "accepted", None, None, 3, 3)
    assert (memory.bank.name, memory.namespace, memory.scope) == ("General", ["default"], "global")
    assert (memory.entities, memory.tags, memory.extra, memory.is_protected) == ([], [], {}, False)
    assert memory.created_at == memory.updated_at
    assert now() - memory.created_at < dt.timedelta(minutes=1)


def test_a_write_is_searchable_and_audited_in_the_same_breath(access):
    """CON-06, MIG-13: row, tokens, vector and audit are there together."""
    memory = remember(access)
    assert MemoryIndex.objects.get(memory=memory).doc_len > 0
    assert Embedding.objects.filter(memory=memory).count() == 1
    assert memory.index_state == "ready"
    entry = AuditEntry.objects.get(target_id=memory.pk)
    assert (entry.action, entry.version_after, entry.actor_kind) == ("write_memory", 1, "system")
    assert not Revision.objects.filter(memory=memory).exists()


@pytest.mark.parametrize("kind", MemoryType)
def test_every_type_is_accepted(access, kind):
    """MOD-26: all seven."""
    assert remember(access, type=kind.value).type == kind


def test_the_same_text_again_is_a_duplicate(access):
    """DUP-01, DUP-11, DUP-28: nothing is stored, the one that is there is shown and noted as confirmed."""
    first = remember(access, "The hub listens on port 8000.")
    again = write(access, "  the HUB listens   on port 8000!! ")
    assert (again.outcome, again.memory.pk, again.duplicate_of) == (Outcome.DUPLICATE, first.pk, first.pk)
    assert (again.similarity, again.decided_by) == (1.0, "exact_hash")
    kept = Memory.objects.get()
    assert kept.content == "The hub listens on port 8000."
    assert kept.last_confirmed_at is not None
    assert kept.version == 1


DIFFERENT = {
    "type": {"type": "skill"},
    "user": {"user_id": "grace"},
    "namespace": {"namespace": ["team"]},
    "scope": {"scope": "agent", "agent_id": "a-1"},
    "a number": {"content": "The hub listens on port 8001."},
    "a question mark": {"content": "The hub listens on port 8000?"},
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_differs_is_another_memory(access, other):
    """DUP-20, MOD-21: duplicates are sought within vault, namespace, user, type (and agent when scoped) only."""
    first = remember(access)
    sent = {"content": "The hub listens on port 8000.", **other}
    result = write_memory(access, MemoryDraft.parse(sent))
    assert result.outcome == Outcome.CREATED
    assert result.memory.pk != first.pk


def test_an_archived_or_discarded_twin_does_not_swallow(access):
    """CON-08: tombstones must not block what is said anew."""
    for values in ({"archived_at": now()}, {"status": "discard"}, {"expires_at": now() - dt.timedelta(seconds=1)}):
        twin = remember(access, "again and again")
        Memory.objects.filter(pk=twin.pk).update(**values)
        assert write(access, "again and again").outcome == Outcome.CREATED
        Memory.objects.all().update(archived_at=now())


def test_a_vault_is_blind_to_other_vaults(access, other_access):
    """MOD-31: the same text in another vault is another memory with another hash and other tokens."""
    mine, theirs = remember(access), remember(other_access)
    assert mine.content_hash != theirs.content_hash
    tokens = [set(MemoryIndex.objects.get(memory=one).terms) for one in (mine, theirs)]
    assert tokens[0]
    assert not tokens[0] & tokens[1]


def test_a_banks_name_is_found_however_it_is_written(access):
    """BNK-05, BNK-13, CON-05: trimmed, without case; Hobby means Interests; the name is kept as it is."""
    for said, meant in [("  hEaLtH ", "Health"), ("Hobby", "Interests"), ("hobbies", "Interests"), ("WORK", "Work")]:
        assert remember(access, f"in {said}", bank=said).bank.name == meant


def test_an_unknown_bank_is_refused_and_the_banks_are_named(access):
    """BNK-02: an explicit write is never filed somewhere else in silence."""
    with pytest.raises(UnknownBank) as caught:
        write(access, bank="Sport")
    text = f"{caught.value.message} {caught.value.errors}"
    for name in ("General", "Personal", "Work", "Relationships", "Health", "Interests", "Events"):
        assert name in text
    assert caught.value.errors[0].pointer == "/bank"
    assert not Memory.objects.exists()


@pytest.mark.parametrize("named", ["other", "unknown", "nonsense"])
def test_another_vault_named_is_not_found(access, other_vault, named):
    """MOD-31: `vault_id` must name the key's vault; another one and none at all look the same."""
    vault_id = {"other": str(other_vault.pk), "unknown": str(new_id()), "nonsense": "x"}[named]
    with pytest.raises(NotFound):
        write(access, vault_id=vault_id)
    assert write(access, vaultId=str(access.vault_id)).outcome == Outcome.CREATED


def test_backdating_needs_the_scope_import(access):
    """DESIGN §8: `created_at` is for imports; it changes neither trust nor status."""
    past = "2020-02-29T12:00:00+02:00"
    limited = access_of(make_key(access, frozenset({KeyScope.MEMORIES_WRITE}))[1])
    with pytest.raises(MissingScope, match="import"):
        write(limited, created_at=past)
    memory = remember(access, created_at=past)
    assert memory.created_at == memory.updated_at == dt.datetime(2020, 2, 29, 10, tzinfo=dt.UTC)
    assert (memory.trust, memory.status) == ("inferred", "accepted")


def test_without_the_scope_nothing_is_written(access):
    """API-17: a reading key cannot write, not even an empty batch."""
    reader = access_of(make_key(access, frozenset({KeyScope.MEMORIES_READ}))[1])
    for attempt in (lambda: write(reader), lambda: write_batch(reader, [])):
        with pytest.raises(MissingScope):
            attempt()
    assert not Memory.objects.exists()


def outcomes(results: list[WriteResult | HubError]) -> list[str]:
    return [result.code if isinstance(result, HubError) else result.outcome.value for result in results]


@pytest.mark.parametrize("size", [1, 40])
def test_the_items_of_a_batch_meet_each_other(access, size):
    """DUP-26: duplicates and repeated external ids within one batch, small or large enough for COPY."""
    remember(access, "already there")
    fresh = [draft(f"new {n}") for n in range(size)]
    items = [
        *fresh,
        draft("twice"),
        draft("TWICE."),
        draft("already there!"),
        draft("by id", external_write_id="e1"),
        draft("by id", external_write_id="e1"),
        draft("by id, changed", external_write_id="e1"),
    ]
    results = write_batch(access, items)
    expected = ["created", "duplicate", "duplicate", "created", "idempotent", "updated"]
    assert outcomes(results) == ["created"] * size + expected
    assert Memory.objects.count() == size + 3
    assert Memory.objects.get(external_write_id="e1").content == "by id, changed"
    assert MemoryIndex.objects.count() == Memory.objects.count() == Embedding.objects.count()
    numbers = set(Memory.objects.values_list("doc_no", flat=True))
    assert len(numbers) == size + 3


@pytest.mark.parametrize("size", [0, 40])
def test_an_item_that_cannot_be_written_fails_alone(access, other_access, size):
    """DUP-26: in its place, with its own error; everything around it is stored."""
    foreign = remember(other_access, "theirs")
    items = [
        draft("first"),
        draft("bad bank", bank="Sport"),
        draft("bad target", supersedes=str(foreign.pk)),
        draft("bad vault", vault_id=str(other_access.vault_id)),
        *[draft(f"more {n}") for n in range(size)],
        draft("last"),
    ]
    results = write_batch(access, items)
    assert outcomes(results) == ["created", "unknown_bank", "not_found", "not_found", *["created"] * (size + 1)]
    written = Memory.objects.filter(vault=access.vault)
    assert {row.content for row in written} == {"first", "last", *(f"more {n}" for n in range(size))}
    assert AuditEntry.objects.filter(vault=access.vault, action="write_memory").count() == size + 2


def test_large_batches_are_sealed_and_indexed_like_single_writes(access):
    """ENC-03, CON-06: COPY goes through the same fields."""
    results = write_batch(access, [draft(f"number {n} of many", tags=['q"uo\\te', "tab\there"]) for n in range(100)])
    assert outcomes(results) == ["created"] * 100
    for n, row in enumerate(Memory.objects.order_by("id")):
        assert row.content == f"number {n} of many"
        assert row.tags == ['q"uo\\te', "tab\there"]
    assert MemoryIndex.objects.filter(doc_len__gt=0).count() == Embedding.objects.count() == 100


def test_a_vault_may_lower_the_longest_content(access):
    """CFG-02: the setting is asked, with the pointer of the field."""
    from_vault = {"vault": access.vault, "level": "vault", "key": "content_max_length", "value": 10}
    access.vault.settings.create(**{name: value for name, value in from_vault.items() if name != "vault"})
    with pytest.raises(Invalid) as caught:
        write(access, "eleven char")
    assert caught.value.errors[0].pointer == "/content"
    assert write(access, "ten chars.").outcome == Outcome.CREATED


def test_a_draft_stays_a_draft(access):
    """STA-03: waits for a person, is deduplicated against, is not recalled."""
    memory = remember(access, "perhaps", status="draft")
    assert memory.status == Status.DRAFT
    assert write(access, "perhaps").memory.pk == memory.pk

"""Many writers at once, with real threads and connections: invariants hold, and no error is a surprise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

import pytest
from django.db import connection, transaction

from banks.access import Access, system_access
from banks.models import AuditEntry
from memories.models import Embedding, Memory, MemoryIndex, Revision
from memories.rules.drafts import MemoryChanges
from memories.rules.vocabulary import Outcome, Relation
from memories.services.contention import WriteContended
from memories.services.editing import update_memory
from memories.services.erasing import erase_memory
from memories.services.lifecycle import archive_memory, supersede_memory
from memories.services.linking import create_link
from memories.services.superseding import AlreadySuperseded, SupersedesItself
from memories.services.writing import WriteResult, write_batch
from memoryhub.lib.errors import HubError, NotFound, StaleVersion
from tests.factories import draft, make_vault, operator, remember, write
from tests.racing import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def access() -> Access:
    return operator(make_vault("Race"))


def again(access: Access) -> Access:
    """The same permission in the thread that runs."""
    return system_access(access.vault_id, "race")


def say(access: Access, text: str) -> WriteResult:
    return write(again(access), text)


def check_invariants() -> None:
    """What must hold after any interleaving (security.md I2, I3, I5, I6)."""
    live = Memory.objects.live().filter(superseded_by=None, content_hash__isnull=False)
    identities = live.values_list("vault", "content_hash", "type", "user_id", "namespace", "scope", "dedup_agent")
    assert all(count == 1 for count in Counter((*i[:4], tuple(i[4]), *i[5:]) for i in identities).values())
    ids = set(Memory.objects.values_list("pk", flat=True))
    assert set(MemoryIndex.objects.values_list("memory_id", flat=True)) == ids
    assert set(Embedding.objects.values_list("memory_id", flat=True)) == ids
    for memory in Memory.objects.all():
        seen = {memory.pk}
        while memory.superseded_by_id is not None:
            assert memory.superseded_by_id not in seen, "a cycle of successors"
            seen.add(memory.superseded_by_id)
            memory = Memory.objects.get(pk=memory.superseded_by_id)
    for memory in Memory.objects.all():
        assert memory.content
        kept = list(Revision.objects.filter(memory=memory).order_by("version").values_list("version", flat=True))
        assert kept == list(range(1, memory.version)), "a version without its history"
        entries = AuditEntry.objects.filter(target_id=memory.pk, target_kind="memory").count()
        assert entries == memory.version, "a mutation without its audit"


def outcomes(results: list[WriteResult | Exception]) -> Counter[str]:
    return Counter(
        (result.code if isinstance(result, HubError) else repr(result))
        if isinstance(result, Exception)
        else result.outcome.value
        for result in results
    )


def test_32_writers_of_one_text_leave_one_memory(access):
    """DUP-25, DEF-15, R12: one is created, the others are duplicates of it."""
    for number in range(3):
        text = f"said by everybody at once {number}"
        results = together([partial(say, access, text)] * 32)
        assert outcomes(results) == {"created": 1, "duplicate": 31}
        assert len({result.memory.pk for result in results if isinstance(result, WriteResult)}) == 1
    assert Memory.objects.count() == 3
    check_invariants()


def test_32_batches_of_the_same_texts_leave_one_memory_each(access):
    """DUP-25, DUP-26: in whatever order they come, nobody is refused, and each text is there once."""
    texts = [f"Locker {number} belongs to the {number % 7}th team." for number in range(40)]

    def all_of_them(seed: int) -> list[str]:
        mixed = Random(seed).sample(texts, len(texts))
        results = write_batch(again(access), [draft(text) for text in mixed])
        return [result.code if isinstance(result, HubError) else result.outcome.value for result in results]

    counted: Counter[str] = Counter()
    for told in together([partial(all_of_them, seed) for seed in range(32)]):
        assert not isinstance(told, Exception), told
        counted.update(told)
    assert counted == {"created": 40, "duplicate": 31 * 40}
    assert Memory.objects.live().count() == 40
    check_invariants()


def test_32_writers_of_one_external_id_leave_one_memory(access):
    """IDM-02, R11: mixed bodies; one is created, the others update it or find it as it is; nothing is refused."""
    texts = [f"body {n % 4}" for n in range(32)]
    calls = [partial(lambda text: write(again(access), text, external_write_id="run:1"), text) for text in texts]
    results = together(calls)
    counted = outcomes(results)
    assert counted["created"] == 1
    assert set(counted) <= {"created", "updated", "idempotent"}
    memory = Memory.objects.get()
    assert memory.version == 1 + counted["updated"]
    assert memory.content in texts
    check_invariants()


def test_no_update_is_lost(access):
    """R13, API-08: every editor whose version was current is in the history; the others were told."""
    memory = remember(access, "0")

    def edit(name: int) -> int:
        mine, done = again(access), 0
        while done < 5:
            current = Memory.objects.get(pk=memory.pk)
            changes = MemoryChanges.parse({"content": str(int(current.content) + 1), "tags": [str(name)]})
            try:
                update_memory(mine, memory.pk, changes, expected_version=current.version)
                done += 1
            except StaleVersion as stale:
                assert int(stale.extra["current_version"]) > current.version
        return done

    assert together([partial(edit, name) for name in range(6)]) == [5] * 6
    final = Memory.objects.get(pk=memory.pk)
    assert (final.content, final.version) == ("30", 31)
    check_invariants()


def test_one_of_many_successors_wins(access):
    """SUP-07: the others are told who stands now; every loser's memory is not there."""
    old = remember(access, "v1")
    calls = [partial(lambda n: write(again(access), f"v2 by {n}", supersedes=str(old.pk)), n) for n in range(16)]
    results = together(calls)
    counted = outcomes(results)
    assert counted == {Outcome.SUPERSEDED.value: 1, AlreadySuperseded.code: 15}
    head = Memory.objects.get(superseded=old)
    assert {error.extra["head_id"] for error in results if isinstance(error, AlreadySuperseded)} == {str(head.pk)}
    assert Memory.objects.count() == 2
    check_invariants()


def test_supersessions_in_a_circle_do_not_close_it(access):
    """SUP-07, I5: a→b, b→c, c→d, d→a at once: whoever comes last is refused."""
    for _ in range(5):
        ring = [remember(access, f"v{n}", dedup=False) for n in range(4)]
        pairs = list(zip(ring, ring[1:] + ring[:1], strict=True))
        calls = [partial(lambda o, n: supersede_memory(again(access), o.pk, n.pk), old, new) for old, new in pairs]
        results = together(calls)
        refused = [result for result in results if isinstance(result, Exception)]
        assert [type(error) for error in refused] == [SupersedesItself]
        check_invariants()


def test_the_last_link_of_a_circle_waits_for_the_others(access):
    """SUP-07: also when the transactions share no memory: a→b and c→d stand, b→c is on its way, d→a comes."""
    a, b, c, d = (remember(access, name) for name in "abcd")
    supersede_memory(access, a.pk, b.pk)
    supersede_memory(access, c.pk, d.pk)
    with transaction.atomic():
        supersede_memory(access, b.pk, c.pk)

        def close_it() -> object:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '300ms'")
            return supersede_memory(again(access), d.pk, a.pk)

        (result,) = together([close_it])
        assert isinstance(result, Exception), "it did not wait and closed the circle"
    with pytest.raises(SupersedesItself):
        supersede_memory(access, d.pk, a.pk)
    check_invariants()


def test_crossing_batches_end(access):
    """DEG-04: batches that meet each other's memories in opposite orders wait for each other one way round."""
    texts = [f"text {n}" for n in range(24)]

    def send(seed: int) -> list[WriteResult | HubError]:
        mixed = texts[:]
        Random(seed).shuffle(mixed)
        return write_batch(
            again(access), [draft(text, external_write_id=f"id {text}", importance=seed) for text in mixed]
        )

    results = together([partial(send, 1 + seed % 5) for seed in range(8)])
    for result in results:
        assert not isinstance(result, Exception) or isinstance(result, WriteContended), repr(result)
    stored = [result for result in results if not isinstance(result, Exception)]
    assert stored
    assert {one.outcome.value for result in stored for one in result if isinstance(one, WriteResult)} <= {
        "created",
        "updated",
        "idempotent",
    }
    assert Memory.objects.count() == 24
    check_invariants()


def act_at_random(access: Access, memories: Sequence[Memory], seed: int) -> list[str]:
    """A dozen verbs on the same few memories; the codes of those that were refused."""
    chance, mine, refused = Random(seed), again(access), []
    verbs: list[Callable[[Memory, Memory, str], object]] = [
        lambda one, two, text: write(mine, text),
        lambda one, two, text: write(mine, text, external_write_id=f"e{chance.randrange(3)}"),
        lambda one, two, text: write(mine, f"{text} instead", supersedes=str(one.pk)),
        lambda one, two, text: update_memory(mine, one.pk, MemoryChanges.parse({"content": text})),
        lambda one, two, text: archive_memory(mine, one.pk, archived=chance.random() < 0.5),
        lambda one, two, text: supersede_memory(mine, one.pk, two.pk),
        lambda one, two, text: create_link(mine, one.pk, two.pk, Relation.RELATED),
        lambda one, two, text: erase_memory(mine, one.pk) if chance.random() < 0.1 else None,
    ]
    for _ in range(12):
        one, two = chance.sample(memories, 2)
        try:
            chance.choice(verbs)(one, two, f"text {chance.randrange(4)}")
        except HubError as error:
            refused.append(error.code)
    return refused


def test_everything_at_once(access):
    """R14, DEG-04: writes, edits, archiving, linking, superseding and erasing of the same few memories."""
    memories = [remember(access, f"start {n}") for n in range(6)]
    results = together([partial(act_at_random, access, memories, seed) for seed in range(8)])
    for result in results:
        assert not isinstance(result, Exception), repr(result)
    allowed = {"duplicate_content", "already_superseded", "supersedes_itself", NotFound.code, WriteContended.code}
    assert {code for refused in results if not isinstance(refused, Exception) for code in refused} <= allowed
    check_invariants()

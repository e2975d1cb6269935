"""Idempotency keys: the same request again is answered and not repeated, whoever is faster."""

from __future__ import annotations

import datetime as dt
from functools import partial

import pytest
from django.db import connection

from banks.access import Access, system_access
from memories.models import IdempotencyRecord, Memory
from memories.services.idempotency import (
    KEPT_FOR,
    IdempotencyKeyReused,
    StoredAnswer,
    forget_old_answers,
    with_idempotency,
)
from memoryhub.lib.clock import now
from memoryhub.lib.errors import Conflict
from tests.factories import access_of, make_key, make_vault, operator, write
from tests.racing import together


def writing(access: Access, text: str = "once") -> StoredAnswer:
    memory = write(access, text, dedup=False).memory
    return StoredAnswer(201, {"id": str(memory.pk), "content": memory.content}, {"ETag": memory.etag})


def test_a_repeated_request_gets_the_first_answer(access):
    """IDM-03: status, body and headers, and nothing is done twice."""
    first = with_idempotency(access, "key", b"POST x", lambda: writing(access))
    again = with_idempotency(access, "key", b"POST x", lambda: writing(access))
    assert (again.status, again.body, again.headers) == (first.status, first.body, first.headers)
    assert (first.replayed, again.replayed) == (False, True)
    assert Memory.objects.count() == 1


def test_another_request_under_the_same_key_is_refused(access):
    """IDM-03: rather than answered with something else."""
    with_idempotency(access, "key", b"POST x", lambda: writing(access))
    with pytest.raises(IdempotencyKeyReused):
        with_idempotency(access, "key", b"POST y", lambda: writing(access))
    assert Memory.objects.count() == 1


def test_a_request_that_failed_is_not_kept(access):
    """IDM-03: its effect is undone, and the next one is the first."""

    def failing() -> StoredAnswer:
        writing(access)
        raise Conflict

    with pytest.raises(Conflict):
        with_idempotency(access, "key", b"POST x", failing)
    assert (Memory.objects.count(), IdempotencyRecord.objects.count()) == (0, 0)
    assert not with_idempotency(access, "key", b"POST x", lambda: writing(access)).replayed


def test_keys_belong_to_whoever_sends_them(access, other_access):
    """MOD-31: another key holder and another vault may use the same words."""
    callers = [access_of(make_key(access)[1]), access_of(make_key(access)[1]), other_access]
    for caller in callers:
        assert not with_idempotency(caller, "key", b"POST x", partial(writing, caller)).replayed
    assert Memory.objects.count() == 3


def test_neither_key_nor_request_nor_answer_lies_in_the_clear(access):
    """ENC-03: keyed hashes and a sealed answer."""
    with_idempotency(access, "pistachio-key", b"pistachio-body", lambda: writing(access, "pistachio-text"))
    with connection.cursor() as cursor:
        hidden = "encode(key_hash || fingerprint || answer, 'escape')"
        cursor.execute(f"SELECT t::text, {hidden} FROM memories_idempotencyrecord t")
        (row,) = cursor.fetchall()
    assert "pistachio" not in "".join(row)
    assert b"pistachio".hex() not in "".join(row)


def test_answers_are_forgotten_after_a_day(access):
    """GEN-04: by the sweep, and by the next request with the key."""
    for key in ("old", "older", "new"):
        with_idempotency(access, key, b"POST x", lambda: writing(access))
    long_ago = now() - KEPT_FOR - dt.timedelta(seconds=1)
    ids = list(IdempotencyRecord.objects.order_by("created_at").values_list("pk", flat=True))
    IdempotencyRecord.objects.filter(pk__in=ids[:2]).update(created_at=long_ago)
    assert not with_idempotency(access, "old", b"another request", lambda: writing(access)).replayed
    assert forget_old_answers() == 1
    assert IdempotencyRecord.objects.count() == 2


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_32_at_once_are_one(access_in_the_open):
    """R11: one writes, 31 wait and get its answer; a different body under the same key is refused by all of them."""
    vault_id = access_in_the_open.vault_id

    def send(body: bytes) -> StoredAnswer:
        caller = system_access(vault_id)
        return with_idempotency(caller, "key", body, lambda: writing(caller))

    results = together([partial(send, b"POST x")] * 32)
    answers = [result for result in results if isinstance(result, StoredAnswer)]
    assert len(answers) == 32, [repr(result) for result in results if isinstance(result, Exception)]
    assert sum(not answer.replayed for answer in answers) == 1
    assert len({answer.body["id"] for answer in answers}) == Memory.objects.count() == 1
    others = together([partial(send, b"POST y")] * 8)
    assert {type(result) for result in others} == {IdempotencyKeyReused}


@pytest.fixture
def access_in_the_open() -> Access:
    return operator(make_vault("Race"))

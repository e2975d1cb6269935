"""The index is kept by one worker at a time in a vault; nothing is lost by it, nothing is done twice."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from django.db import connection, transaction

from memories.index import graphs
from memories.jobs import JobKind
from memories.models import Embedding, Job, VaultSpace
from memories.rules.vocabulary import JobState
from memories.services.jobs import claim_job, enqueue_job
from memories.services.running import run_job
from memoryhub.lib.clock import now
from tests.factories import make_vault, operator, remember


def keeping(access, key: str | None = "keep") -> Job:
    enqueue_job(access.vault_id, JobKind.KEEP_INDEX, dedupe_key=key)
    return Job.objects.filter(vault_id=access.vault_id, state=JobState.PENDING).latest("created_at")


@pytest.mark.django_db
def test_a_second_worker_comes_back_later(access):
    assert claim_job(keeping(access).pk) is not None
    second = keeping(access)
    assert run_job(second.pk)
    second.refresh_from_db()
    assert (second.state, second.attempts) == (JobState.PENDING, 0)
    assert second.due_at > now()


@pytest.mark.django_db
def test_where_one_waits_already_nobody_else_comes_back(access):
    assert claim_job(keeping(access).pk) is not None
    second = keeping(access)
    # Claimed by hand, so that a third can wait before the second looks.
    assert claim_job(second.pk) is not None
    third = keeping(access)
    Job.objects.filter(pk=second.pk).update(lease_until=now() - dt.timedelta(seconds=1))
    assert run_job(second.pk)
    second.refresh_from_db()
    third.refresh_from_db()
    assert (second.state, third.state) == (JobState.DONE, JobState.PENDING)


@pytest.mark.django_db
def test_a_worker_that_disappeared_keeps_nobody_away(access):
    gone = keeping(access)
    assert claim_job(gone.pk) is not None
    Job.objects.filter(pk=gone.pk).update(lease_until=now() - dt.timedelta(seconds=1))
    second = keeping(access)
    assert run_job(second.pk)
    second.refresh_from_db()
    assert second.state == JobState.DONE


@pytest.mark.django_db(transaction=True)
def test_two_workers_put_no_vector_into_the_index_twice():
    """The second waits for the first, and then leaves what that has moved as it is."""
    access = operator(make_vault("Twice"))
    for number in range(5):
        remember(access, f"Memory number {number} says nothing in particular.", dedup=False)
    place = VaultSpace.objects.get(vault_id=access.vault_id)
    moved: list[int] = []

    def second() -> None:
        try:
            moved.append(graphs.drain_tail(place))
        finally:
            connection.close()

    with transaction.atomic():
        assert graphs.drain_tail(place) == 5
        other = threading.Thread(target=second)
        other.start()
        with connection.cursor() as cursor:
            waits = 0
            while not waits and other.is_alive():
                cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                ((waits,),) = cursor.fetchall()
    other.join()
    assert moved == [0]
    assert not Embedding.objects.filter(vault_id=access.vault_id, in_tail=True).exists()

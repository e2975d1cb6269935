"""The gate: sealed content opens only in the session that was given the vault, and nowhere else."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Barrier
from uuid import UUID

import pytest
from django.db import transaction

from memories.models import Memory
from memoryhub.lib.crypto import VaultKeys, new_key, vault_keys
from memoryhub.lib.ids import new_id
from memoryhub.lib.sealing import VaultLocked, gate
from tests.factories import make_vault, operator, remember


def keys() -> VaultKeys:
    return vault_keys(((1, new_key()),))


def is_open(vault_id: UUID) -> bool:
    try:
        gate.keys_for(vault_id)
    except VaultLocked:
        return False
    return True


def test_a_shut_vault_stays_shut(access):
    """ENC-19: reading and writing raise in a session that did not unlock the vault."""
    memory = remember(access, "secret")
    with gate.session():
        unread = Memory.objects.get(pk=memory.pk)
        with pytest.raises(VaultLocked):
            _ = unread.content
        unread.content = "new"
        with pytest.raises(VaultLocked), transaction.atomic():
            unread.save()
    assert Memory.objects.get(pk=memory.pk).content == "secret"


def test_the_wrong_vault_does_not_help(access):
    """ENC-19: another vault being open opens nothing here: a forgotten filter raises instead of leaking."""
    memory = remember(access, "secret")
    with gate.session():
        operator(make_vault("A third one"))
        for row in Memory.objects.filter(pk=memory.pk):
            with pytest.raises(VaultLocked):
                _ = row.content


def test_without_a_session_nothing_can_be_unlocked(access):
    """ENC-19: a door that forgot its session fails at once, not at the first row."""

    def outside() -> None:
        with pytest.raises(VaultLocked, match=r"gate\.session"):
            operator(access.vault)

    empty = copy_context()
    empty.run(gate._open.set, None)
    empty.run(outside)


def test_a_session_forgets_at_its_end():
    """ENC-19: also when it ends badly, and the outer one is as it was."""
    outer, inner = new_id(), new_id()
    with gate.session():
        gate.unlock(outer, keys())
        with pytest.raises(ZeroDivisionError), gate.session():
            assert not is_open(outer)
            gate.unlock(inner, keys())
            assert is_open(inner)
            raise ZeroDivisionError
        assert is_open(outer)
        assert not is_open(inner)
    assert not is_open(outer)


def test_threads_do_not_see_each_others_vaults():
    """ENC-19: granian serves requests in threads; what one unlocked is shut in the next, also in a reused thread."""
    vaults = [new_id() for _ in range(8)]
    barrier = Barrier(4)

    def request(vault_id: UUID) -> list[UUID]:
        with gate.session():
            gate.unlock(vault_id, keys())
            barrier.wait(10)
            return [one for one in vaults if is_open(one)]

    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(request, vaults))
        left = list(pool.map(lambda _: [one for one in vaults if is_open(one)], range(8)))
    assert seen == [[one] for one in vaults]
    assert left == [[]] * 8


def test_tasks_do_not_see_each_others_vaults():
    """ENC-19: the same for coroutines that take turns in one thread."""
    vaults = [new_id() for _ in range(5)]

    async def request(vault_id: UUID) -> list[UUID]:
        with gate.session():
            gate.unlock(vault_id, keys())
            await asyncio.sleep(0)
            return [one for one in vaults if is_open(one)]

    async def serve() -> list[list[UUID]]:
        return await asyncio.gather(*(request(one) for one in vaults))

    assert asyncio.run(serve()) == [[one] for one in vaults]

"""One client for many: threads, tasks, event loops one after the other, forks, copies; and what does not travel."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import trio

import memoryhub.client
from memoryhub.client import (
    AsyncMemoryHub,
    ClientClosed,
    HubUnreachable,
    MemoryHub,
    MemoryHubError,
)
from memoryhub.client.answers import Memory, Page
from memoryhub.client.errors import Problem, error_of
from tests.contracts.tree import ROOT
from tests.memoryhub.client.conftest import Scripted, fine, told

ME = fine(vault={}, scopes=["x"])
FORKING = """
import asyncio, os, sys
from memoryhub.client import HubMemoryStore, MemoryHub, MemoryItem

hub = MemoryHub()
store = HubMemoryStore("forks", hub)
store.add(MemoryItem(content="Written by the parent."))
child = os.fork()
if child == 0:
    store.add(MemoryItem(content="Written by the child."))
    asyncio.run(store.search())
    os._exit(0 if hub.whoami().scopes else 1)
store.add(MemoryItem(content="Written by the parent again."))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), sorted(memory.content for memory in hub.every_memory(namespace="forks")))
"""


def test_threads_share_a_client(service: Callable[..., Scripted]):
    script = service(ME)
    with MemoryHub(script.url, "key") as hub, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: hub.whoami(), range(64)))
    assert [answer.scopes for answer in answers] == [["x"]] * 64


def test_hundreds_of_tasks_share_a_client(service: Callable[..., Scripted]):
    """More than there are connections: they wait for each other, and none is lost."""
    script = service(ME)

    async def use() -> list[Any]:
        async with AsyncMemoryHub(script.url, "key") as hub:
            return list[Any](await asyncio.gather(*(hub.whoami() for _ in range(300))))

    assert len(asyncio.run(use())) == len(script.asked) == 300


def test_one_client_in_one_event_loop_after_the_other(service: Callable[..., Scripted]):
    """As in scripts that call asyncio.run again and again."""
    script = service(ME)

    def use() -> list[list[str]]:
        hub = AsyncMemoryHub(script.url, "key")

        async def once() -> list[str]:
            scopes: list[str] = (await hub.whoami()).scopes
            return scopes

        return [asyncio.run(once()) for _ in range(3)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Python's word on connections whose loop has ended
        assert use() == [["x"]] * 3
        gc.collect()


def test_under_trio(service: Callable[..., Scripted]):
    """httpx2 speaks through anyio, so nothing of ours is needed for it: calls, retries, deadlines, pagers."""
    script = service(told(503), ME)

    async def use() -> None:
        async with AsyncMemoryHub(script.url, "key") as hub:
            assert (await hub.whoami()).scopes == ["x"]
            async with trio.open_nursery() as nursery:
                for _ in range(20):
                    nursery.start_soon(hub.whoami)

    trio.run(use)
    assert len(script.asked) == 22


def test_a_deadline_under_trio(wire: Any):
    server = wire(lambda connection, head: connection.recv(1))

    async def use() -> None:
        async with AsyncMemoryHub(server.url, "key", timeout=0.2, retries=memoryhub.client.NO_RETRIES) as hub:
            with pytest.raises(memoryhub.client.HubTimeout):
                await hub.whoami()

    trio.run(use)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_has_connections_and_a_thread_of_its_own(live_server: Any, secret: str):
    environment = {**os.environ, "MEMORYHUB_URL": live_server.url, "MEMORYHUB_KEY": secret}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING]
    outcome = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert outcome.returncode == 0, outcome.stderr
    texts = ["Written by the child.", "Written by the parent again.", "Written by the parent."]
    assert outcome.stdout == f"0 {texts}\n"


def test_what_was_closed_says_so(service: Callable[..., Scripted]):
    """Closing twice is fine."""
    script = service(ME)
    hub = MemoryHub(script.url, "key")
    hub.close()
    hub.close()
    with pytest.raises(ClientClosed, match=r"MemoryHub\('http://127.0.0.1:\d+'\) was closed"):
        hub.whoami()
    with pytest.raises(ClientClosed), hub:
        pass

    async def use() -> None:
        later = AsyncMemoryHub(script.url, "key")
        await later.close()
        with pytest.raises(ClientClosed):
            await later.whoami()

    asyncio.run(use())


def test_a_client_is_shared_by_copies_and_does_not_travel():
    """Frameworks copy agents with all they hold; a pickle would carry the key."""
    with MemoryHub("http://localhost:8000", "key") as hub:
        assert copy.deepcopy({"tools": [hub]})["tools"][0] is hub
        assert copy.deepcopy(hub.whoami).__name__ == "whoami"
        with pytest.raises(TypeError, match="make one in each process"):
            pickle.dumps(hub)


def _kinds(kind: type[MemoryHubError]) -> list[type[MemoryHubError]]:
    return [kind, *(deeper for each in kind.__subclasses__() for deeper in _kinds(each))]


@pytest.mark.parametrize("kind", _kinds(MemoryHubError), ids=lambda kind: kind.__name__)
def test_every_error_comes_back_from_another_process(kind: type[MemoryHubError]):
    """Workers hand errors on by pickling them."""
    problem = Problem(418, "some_code", "Said.", "request-1", [], 7.0, {"current_version": 3})
    error = kind(problem, arrived=False) if issubclass(kind, HubUnreachable) else kind(problem)
    error.add_note("Noted.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and vars(again) == vars(error)
    assert (str(again), again.args, again.__notes__) == (str(error), error.args, ["Noted."])
    assert type(copy.copy(error)) is kind


def test_answers_come_back_from_another_process():
    memory = {"id": "0" * 32, "type": "fact", "bank": "General", "created_at": "2026-01-01T00:00:00Z"}
    memory["updated_at"] = memory["created_at"]
    page = Page[Memory].model_validate({"items": [memory], "newer": 1})
    assert pickle.loads(pickle.dumps(page)) == page
    error = error_of(422, {}, b'{"code": "x", "detail": "y", "errors": [{"pointer": "/a"}]}')
    assert pickle.loads(pickle.dumps(error)).errors == error.errors

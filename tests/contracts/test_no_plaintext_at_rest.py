"""Nothing that somebody wrote lies anywhere in the clear: 200 canaries through the real verbs, then a grep of it all.

The database's whole folder with its write-ahead log, its server log, what the hub logged, and a dump of the broker
that carried the kicks are searched byte by byte. A control canary in a clear field shows that the search would see.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from redis import Redis

from banks.access import Access, KeyScope
from memories.jobs import JobKind
from memories.models import Memory
from memories.rules.drafts import MemoryChanges
from memories.rules.filters import MemoryFilter, SearchQuery
from memories.rules.vocabulary import Status
from memories.search.listing import list_memories
from memories.search.recall import search_memories
from memories.services.editing import update_memory
from memories.services.idempotency import StoredAnswer, with_idempotency
from memories.services.jobs import enqueue_job
from memories.services.lifecycle import archive_memory, change_status
from memories.services.writing import write_batch
from memoryhub.lib.broker import redis_url
from memoryhub.lib.errors import HubError
from memoryhub.lib.sealing import Sealed
from memoryhub.local.datadir import DataDir, locate
from tests.brokers import kicks_to, valkey
from tests.conftest import ApiClient
from tests.factories import converse, draft, make_key, make_vault, operator, remember, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
COUNT = 200
CHUNK = 1 << 20


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[DataDir]:
    """A real Valkey the kicks go to."""
    with valkey(tmp_path / "hub") as datadir, kicks_to(datadir.broker_url):
        yield datadir


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[Path]:
    """Everything the hub logs from here on, formatted as in production, at the most talkative level."""
    path = tmp_path / "hub.log"
    handler = logging.FileHandler(path)
    root = logging.getLogger()
    formats = [existing.formatter for existing in root.handlers if existing.formatter]
    handler.setFormatter(formats[0] if formats else None)
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield path
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
        handler.close()


def holds(path: Path, words: list[bytes]) -> set[bytes]:
    """Which of the words a file holds; read in overlapping pieces."""
    found: set[bytes] = set()
    with path.open("rb") as file:
        tail = b""
        while piece := file.read(CHUNK):
            text = tail + piece
            found |= {word for word in words if word in text}
            tail = text[-64:]
    return found


def holding(folder: Path, words: list[bytes]) -> dict[str, set[bytes]]:
    found = {}
    for path in folder.rglob("*"):
        try:
            if path.is_file() and (seen := holds(path, words)):
                found[str(path)] = seen
        except FileNotFoundError:
            continue  # the server removed it meanwhile
    return found


def live_through(access: Access, api: ApiClient, words: list[str]) -> None:
    """Use every canary in a way that leaves something behind."""
    results = write_batch(access, [draft(f"The password of {word} is {word}-secret.") for word in words])
    memories = [result.memory for result in results if not isinstance(result, HubError)]
    assert len(memories) == COUNT
    for memory, word in zip(memories[:30], words[:30], strict=True):
        changes = MemoryChanges.parse({"content": f"{word} edited", "reason": f"because {word}"})
        update_memory(access, memory.pk, changes)
    for memory, word in zip(memories[30:60], words[30:60], strict=True):
        archive_memory(access, memory.pk, reason=f"outdated: {word}")
    for memory, word in zip(memories[60:70], words[60:70], strict=True):
        write(access, f"{word} replaced", supersedes=str(memory.pk))
        change_status(access, remember(access, f"{word} draft", status="draft").pk, Status.DISCARD, f"no: {word}")
    for word in words[70:90]:
        search_memories(access, SearchQuery(query=f"where is {word}?"))
        list_memories(access, MemoryFilter(q=word))
        with_idempotency(access, f"key {word}", word.encode(), partial(StoredAnswer, 201, {"content": word}))
    for word in words[90:100]:
        sent = api.send("POST", "/memories", {"content": f"{word} over REST"}, Idempotency_Key=word)
        assert sent.status_code == 201, sent.content
        api.send("POST", "/memories/search", {"query": word})
        api.send("GET", f"/memories?q={word}")
    quarrel(access, api, memories, words[100:110])
    converse(access, "talk", *(f"My secret is {word}." for word in words[110:120]))
    api.send("POST", "/sessions/talk/messages", {"role": "human", "content": words[120]}, Idempotency_Key=words[120])
    api.send("POST", "/sessions/talk/extract", {})
    enqueue_job(access.vault_id, JobKind.EMBED_MEMORIES)


def quarrel(access: Access, api: ApiClient, memories: list[Memory], words: list[str]) -> None:
    """Errors are where texts leak: refused input, broken rows, violated constraints."""
    Memory.objects.filter(pk=memories[110].pk).update(content=Sealed(b"M\x01broken"))
    for word in words:
        refused = [
            {"content": word, "bank": f"bank {word[:20]}"},
            {"content": word, "importance": word},
            {"content": f"{word}\x00"},
            {"content": word, word: 1},
            {"content": word, "extra": {"a": [[[[[[[[[[word]]]]]]]]]]}},
        ]
        for body in refused:
            assert api.send("POST", "/memories", body).status_code == 422
        api.send("POST", "/memories", f'{{"content": "{word}'.encode())
        api.send("PATCH", f"/memories/{memories[3].pk}", {"content": f"{words[0]} twin"})
        api.send("PATCH", f"/memories/{memories[4].pk}", {"content": f"{words[0]} twin"})
    search_memories(access, SearchQuery(query=words[0], threshold=0.0, top_k=200))


def wait_for_kick(client: Redis) -> None:
    """Until a message lies in the queue; BLMOVE waits in the server, nothing polls."""
    queue = settings.CELERY_TASK_DEFAULT_QUEUE
    assert client.blmove(queue, queue, 10, "RIGHT", "LEFT"), "no kick arrived"


def messages(client: Redis) -> bytes:
    """What the queue holds; Celery packs the arguments of a task once more."""
    raw = client.lrange(settings.CELERY_TASK_DEFAULT_QUEUE, 0, -1)
    return b"".join(bytes(one) + base64.b64decode(json.loads(one)["body"]) for one in raw if isinstance(one, bytes))


def test_no_canary_is_found_anywhere(broker: DataDir, logged: Path) -> None:
    """S5, ENC-02, ENC-03, ENC-21: zero hits in files, WAL, logs and broker; the control is found."""
    words = [f"zyx{uuid4().hex}" for _ in range(COUNT)]
    control, log_control, kick_control = (f"ctl{uuid4().hex}" for _ in range(3))
    access = operator(make_vault("Canaries"))
    api = ApiClient(make_key(access, frozenset(KeyScope))[1])
    live_through(access, api, words)
    remember(access, "the control", tags=[control])
    logging.getLogger("memoryhub").info(log_control)

    client = Redis.from_url(redis_url(broker.broker_url))
    wait_for_kick(client)
    client.set("control", kick_control)
    carried = messages(client)
    client.config_set("rdbcompression", "no")
    client.save()
    client.close()
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")
        cursor.execute("SHOW data_directory")
        (folder,) = cursor.fetchone()

    needles = [word.encode() for word in [*words, control, log_control, kick_control]]
    database = holding(Path(folder), needles)
    assert {word for seen in database.values() for word in seen} == {control.encode()}
    assert any("pg_wal" in path for path in database), "the write-ahead log was not searched"
    assert any("base" in path for path in database), "the tables were not searched"
    assert holding(Path(folder).parent.parent / "logs", needles) == {}
    assert holds(logged, needles) == {log_control.encode()}
    assert carried, "no kick was carried"
    assert [word for word in needles if word in carried] == []
    dumped = holding(broker.store, needles)
    assert {word for seen in dumped.values() for word in seen} == {kick_control.encode()}


def test_the_control_of_the_database_log(access_log: Path) -> None:
    """S5: the server's log exists and is written to; a failing statement is named there without its values."""
    assert access_log.stat().st_size > 0


@pytest.fixture
def access_log() -> Path:
    found = locate(settings.ENV.data).logs / "postgres.log"
    assert found.exists()
    return found
